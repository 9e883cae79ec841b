# Reference pages from the public headers: the target `reference`, where Doxygen is installed.
find_program(PLIANT_DOXYGEN doxygen)
mark_as_advanced(PLIANT_DOXYGEN)
set(PLIANT_REFERENCE_DIR ${PROJECT_BINARY_DIR}/reference)
configure_file(doc/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
if(PLIANT_DOXYGEN)
  add_custom_target(reference VERBATIM
    COMMAND python3 -B ${PROJECT_SOURCE_DIR}/tests/library/check_reference.py ${PLIANT_DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile ${PLIANT_REFERENCE_DIR})
  pliant_part("Reference pages" on "cmake --build . --target reference")
else()
  pliant_part("Reference pages" off "doxygen was not found")
endif()
