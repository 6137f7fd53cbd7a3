# Where things go: the build tree has the shape of the installed tree (bin/, lib/hocket/), so hocket-exec
# finds libhocket.so beside itself in both.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(HOCKET_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/hocket)

if(SKBUILD)  # a wheel: "data" is the environment's prefix, "scripts" its bin/
  set(HOCKET_BINDIR ${SKBUILD_SCRIPTS_DIR})
  set(HOCKET_LIBDIR ${SKBUILD_DATA_DIR}/lib/hocket)
  set(HOCKET_INCLUDEDIR ${SKBUILD_DATA_DIR}/include)
  set(HOCKET_PYTHONDIR ${SKBUILD_PLATLIB_DIR}/hocket)
else()
  set(HOCKET_BINDIR ${CMAKE_INSTALL_BINDIR})
  set(HOCKET_LIBDIR lib/hocket)
  set(HOCKET_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
  set(HOCKET_PYTHONDIR lib/python)
endif()

if(EXISTS ${PROJECT_SOURCE_DIR}/include/hocket)
  install(DIRECTORY include/hocket DESTINATION ${HOCKET_INCLUDEDIR})
endif()
