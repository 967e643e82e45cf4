# One static library per folder, and one test program for the *_test.cc files beside its sources.
#
#   teson_module(core DEPS domain base LIBS fmt::fmt TEST_DEPS sim)
#
# makes teson_core from this folder (and below), and teson_core_test if it has tests.
find_package(GTest REQUIRED)
find_package(Threads REQUIRED)

function(teson_module name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS;TEST_DEPS;TEST_LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|testing)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_(test|testing)\\.cc$")
  list(TRANSFORM ARG_DEPS PREPEND teson_)
  list(TRANSFORM ARG_TEST_DEPS PREPEND teson_)

  if(sources)
    add_library(teson_${name} STATIC ${sources})
    target_include_directories(teson_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(teson_${name} PUBLIC ${ARG_DEPS} ${ARG_LIBS})
  else()
    add_library(teson_${name} INTERFACE)
    target_include_directories(teson_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(teson_${name} INTERFACE ${ARG_DEPS} ${ARG_LIBS})
  endif()

  if(tests)
    add_executable(teson_${name}_test ${tests})
    target_include_directories(teson_${name}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(teson_${name}_test PRIVATE teson_${name} ${ARG_TEST_DEPS} ${ARG_TEST_LIBS} GTest::gtest GTest::gmock GTest::gtest_main Threads::Threads)
    add_test(NAME ${name} COMMAND teson_${name}_test)
    set_property(GLOBAL APPEND PROPERTY TESON_TEST_TARGETS teson_${name}_test)
  endif()
endfunction()
