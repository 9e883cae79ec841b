# The library as others find it: find_package(Pliant), pkg-config pliant. All of it may be moved after installation.
include(CMakePackageConfigHelpers)
set(pliant_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Pliant)

# two export files: the shared library needs nothing else, the static one what PliantNeeds.cmake finds
install(TARGETS pliant_core_shared EXPORT PliantShared COMPONENT pliant_library
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT pliant_library NAMELINK_COMPONENT pliant_library)
install(TARGETS pliant_core EXPORT PliantStatic ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT pliant_library)
install(EXPORT PliantShared NAMESPACE Pliant:: DESTINATION ${pliant_cmake_dir} COMPONENT pliant_library)
install(EXPORT PliantStatic NAMESPACE Pliant:: DESTINATION ${pliant_cmake_dir} COMPONENT pliant_library)
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pliant COMPONENT pliant_library)

configure_package_config_file(cmake/PliantConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/PliantConfig.cmake
  INSTALL_DESTINATION ${pliant_cmake_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/PliantConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/PliantConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/PliantConfigVersion.cmake
  cmake/PliantNeeds.cmake DESTINATION ${pliant_cmake_dir} COMPONENT pliant_library)

file(RELATIVE_PATH PLIANT_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" PLIANT_PC_UP "${PLIANT_PC_UP}")
configure_file(cmake/pliant.pc.in ${CMAKE_CURRENT_BINARY_DIR}/pliant.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pliant.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT pliant_library)

if(TARGET pliant)
  install(TARGETS pliant)
  install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pliant/scenes) # cases and timings read shipped meshes
endif()
