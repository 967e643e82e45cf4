// Text on its way to a terminal or a shell.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace teson::cli {

// In single quotes, safe for any POSIX shell whatever it holds: it's -> 'it'\''s'.
std::string shell_quoted(std::string_view text);
// The words as one would type them: quoted only where a shell would change them.
std::string shell_command(const std::vector<std::string>& words);

// One line without control characters: a newline becomes "\n" as two characters, an escape "\x1b". Bytes that are not
// UTF-8 become "\xNN". What others wrote may not move the cursor or recolour the terminal.
std::string printable(std::string_view text);

bool is_utf8(std::string_view text);

// Columns that valid UTF-8 text takes on a terminal (LC_CTYPE must be set for wide characters).
size_t display_width(std::string_view text);
// At most `width` columns; what was cut is shown by a final ellipsis.
std::string cut_to_width(std::string_view text, size_t width);

}  // namespace teson::cli
