# abacus_library(NAME DEPS a b): makes the current folder a library.
#
# Sources are the folder's own *.cc, tests its *_test.cc (one GoogleTest program a folder, run by CTest). Headers are
# seen as "path/from/src.h", and only those of the folder itself and of the libraries in DEPS: each library exports a
# folder of links to its own headers, so an include that the dependencies do not allow fails to build.

add_library(abacus_flags INTERFACE)
target_compile_options(abacus_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror=return-type -Werror=unused-result
  -fno-omit-frame-pointer)
if(ABACUS_SANITIZE)
  target_compile_options(abacus_flags INTERFACE -fsanitize=${ABACUS_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(abacus_flags INTERFACE -fsanitize=${ABACUS_SANITIZE})
endif()
if(ABACUS_FUZZ)
  target_compile_options(abacus_flags INTERFACE -fsanitize=fuzzer-no-link)  # Coverage, which guides the fuzzer.
  target_link_options(abacus_flags INTERFACE -fsanitize=fuzzer-no-link)
  # With it clang 14 cannot assemble coroutines ("difference across sections").
  target_compile_options(abacus_flags INTERFACE -fno-sanitize=function)
endif()
target_compile_definitions(abacus_flags INTERFACE ABACUS_VERSION="${PROJECT_VERSION}")

function(abacus_export_headers target)
  file(RELATIVE_PATH here ${CMAKE_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  set(exported ${CMAKE_BINARY_DIR}/include/${target})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  file(MAKE_DIRECTORY ${exported}/${here})
  foreach(header ${headers})
    get_filename_component(name ${header} NAME)
    file(CREATE_LINK ${header} ${exported}/${here}/${name} SYMBOLIC)
  endforeach()
  target_include_directories(${target} PUBLIC ${exported})
endfunction()

function(abacus_library target)
  cmake_parse_arguments(ARG "" "" "DEPS;PRIVATE_DEPS;TEST_DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(NOT sources)
    message(WARNING "${CMAKE_CURRENT_SOURCE_DIR} has no sources: ${target} is left out")
    return()
  endif()
  add_library(${target} STATIC ${sources})
  target_link_libraries(${target} PUBLIC abacus_flags ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
  abacus_export_headers(${target})
  if(ABACUS_TESTS AND tests)
    add_executable(${target}_test ${tests})
    target_link_libraries(${target}_test PRIVATE ${target} ${ARG_PRIVATE_DEPS} ${ARG_TEST_DEPS}
      rapidcheck GTest::gtest GTest::gmock GTest::gtest_main)
    add_test(NAME ${target}_test COMMAND ${target}_test)
    set_tests_properties(${target}_test PROPERTIES LABELS unit TIMEOUT 300)
  endif()
endfunction()
