# What the core links, as one target Pliant::needs: SuiteSparse (AMD ordering, in lent memory), zlib, threads.
# Read by the build, and by the installed package for programs that link the static library. PLIANT_MISSING lists what was not found.
find_path(PLIANT_SUITESPARSE_INCLUDE amd.h PATH_SUFFIXES suitesparse)
find_library(PLIANT_AMD_LIBRARY amd)
find_library(PLIANT_SSCONFIG_LIBRARY suitesparseconfig)
mark_as_advanced(PLIANT_SUITESPARSE_INCLUDE PLIANT_AMD_LIBRARY PLIANT_SSCONFIG_LIBRARY)
find_package(ZLIB QUIET)
find_package(Threads QUIET)

set(PLIANT_MISSING "")
if(NOT PLIANT_SUITESPARSE_INCLUDE OR NOT PLIANT_AMD_LIBRARY OR NOT PLIANT_SSCONFIG_LIBRARY)
  list(APPEND PLIANT_MISSING "SuiteSparse (amd.h, libamd, libsuitesparseconfig; Debian: libsuitesparse-dev)")
endif()
if(NOT ZLIB_FOUND)
  list(APPEND PLIANT_MISSING "zlib (Debian: zlib1g-dev)")
endif()
if(NOT Threads_FOUND)
  list(APPEND PLIANT_MISSING "threads")
endif()

if(NOT PLIANT_MISSING AND NOT TARGET Pliant::needs)
  # by path, and global: a project that links Pliant from another folder sees no target that was found in this one
  add_library(Pliant::needs INTERFACE IMPORTED GLOBAL)
  set_target_properties(Pliant::needs PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${PLIANT_SUITESPARSE_INCLUDE};${ZLIB_INCLUDE_DIRS}"
    INTERFACE_LINK_LIBRARIES
      "${PLIANT_AMD_LIBRARY};${PLIANT_SSCONFIG_LIBRARY};${ZLIB_LIBRARIES};${CMAKE_THREAD_LIBS_INIT};m")
endif()
