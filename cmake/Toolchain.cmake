# Language level, warnings, sanitizers, linker and compiler cache: what every target shares.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)

# -O3 costs compile time and gains nothing that was measured here.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(TESON_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them; empty for none")
option(TESON_WERROR "Warnings are errors" OFF)

# Paths below the checkout are cached relative to it, so that another clone finds what this one compiled.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers)
if(TESON_WERROR)
  add_compile_options(-Werror)
endif()
# At -O2 g++ 12 sees overlapping copies in plain std::string code (GCC bug 105329), and reads of the value that an empty
# std::expected or std::optional does not have.
add_compile_options($<$<CONFIG:Release>:-Wno-restrict> $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
# An invariant that breaks must stop the program in release too, so asserts of the library stay cheap but on.
add_compile_definitions(_GLIBCXX_ASSERTIONS)

find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(TESON_SANITIZE)
  add_compile_options(-fsanitize=${TESON_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TESON_SANITIZE})
  add_compile_definitions(TESON_SANITIZED=1)
endif()
