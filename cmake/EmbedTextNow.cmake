# Run with cmake -P by EmbedText.cmake. Bytes, not a string literal: no content can end it early.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "((0x..,){32})" "\\1\n    " bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <string_view>\n\nnamespace teson {\n
std::string_view ${FUNCTION}();\n
static constexpr unsigned char kBytes[] = {\n    ${bytes}\n};\n
std::string_view ${FUNCTION}() { return {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)}; }\n\n}  // namespace teson\n")
