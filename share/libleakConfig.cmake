# find_package(libleak), then libleak_add_test(NAME name COMMAND program args... [OPTIONS leakrun's...]): a test that fails with
# exit status 9 when the program leaks or frees wrongly, and otherwise as the program does. Where leakrun cannot see all
# (exit status 124), the test fails, too. Labels: libleak. Its report is in the test's output.
include(FindPackageHandleStandardArgs)
find_program(LIBLEAK_RUN leakrun HINTS ENV LIBLEAK_ROOT PATH_SUFFIXES bin scripts)
find_path(LIBLEAK_INCLUDE_DIR libleak.h HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../include/libleak"
          "${CMAKE_CURRENT_LIST_DIR}/../include" PATH_SUFFIXES libleak)
if(LIBLEAK_RUN)
  execute_process(COMMAND "${LIBLEAK_RUN}" --version OUTPUT_VARIABLE libleak_VERSION ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" libleak_VERSION "${libleak_VERSION}")
endif()
find_package_handle_standard_args(libleak REQUIRED_VARS LIBLEAK_RUN VERSION_VAR libleak_VERSION)

# libleak.h: its functions are inline calls that are safe without the library.
if(LIBLEAK_INCLUDE_DIR AND NOT TARGET libleak::libleak)
  add_library(libleak::libleak INTERFACE IMPORTED)
  set_target_properties(libleak::libleak PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${LIBLEAK_INCLUDE_DIR}")
endif()

function(libleak_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 TEST "" "NAME" "COMMAND;OPTIONS")
  if(NOT TEST_NAME OR NOT TEST_COMMAND OR TEST_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "libleak_add_test(NAME name COMMAND program args... [OPTIONS options of leakrun...])")
  endif()
  list(POP_FRONT TEST_COMMAND program)
  if(TARGET "${program}")
    set(program "$<TARGET_FILE:${program}>")
  endif()
  add_test(NAME "${TEST_NAME}" COMMAND "${LIBLEAK_RUN}" --error-exitcode=9 ${TEST_OPTIONS} -- "${program}" ${TEST_COMMAND})
  set_tests_properties("${TEST_NAME}" PROPERTIES LABELS libleak)
endfunction()
