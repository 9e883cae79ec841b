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
  # the manual page and completions are printed by the program itself, from the tables of --help
  foreach(page "man;${CMAKE_INSTALL_MANDIR}/man1/pliant.1" "completion bash;${CMAKE_INSTALL_DATADIR}/bash-completion/completions/pliant"
               "completion zsh;${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_pliant" "completion fish;${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/pliant.fish")
    list(GET page 0 words)
    list(GET page 1 where)
    install(CODE "
      set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${where}\")
      get_filename_component(folder \"\${file}\" DIRECTORY)
      file(MAKE_DIRECTORY \"\${folder}\")
      separate_arguments(words UNIX_COMMAND \"${words}\")
      execute_process(COMMAND \"$<TARGET_FILE:pliant>\" \${words} OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)")
  endforeach()
  install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pliant/scenes) # cases and timings read shipped meshes
endif()
