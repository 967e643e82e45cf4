# A text file inside the program: teson_embed_text(TARGET FUNCTION FILE) adds a source that defines
# `std::string_view teson::FUNCTION()`, made again when the file changes.
function(teson_embed_text target function file)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${output} -DFUNCTION=${function} -P ${CMAKE_SOURCE_DIR}/cmake/EmbedTextNow.cmake
    DEPENDS ${file} ${CMAKE_SOURCE_DIR}/cmake/EmbedTextNow.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
