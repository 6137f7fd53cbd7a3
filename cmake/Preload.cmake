# What gets into the user's process: stage 0 (libhocket.so, C and assembler, no C++) and three plugins, one source compiled
# against each ABI. A plugin refers to no MPI symbol: stage 0 hands it the real functions (tests/layers/check_preload.py checks).
if(EXISTS ${PROJECT_SOURCE_DIR}/src/interpose/stage0/CMakeLists.txt)
  add_subdirectory(src/interpose/stage0)
endif()

file(GLOB_RECURSE plugin_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/interpose/plugin/*.cpp)

if(plugin_sources)
  foreach(family ompi mpich abi)
    add_library(hocket_plugin_${family} MODULE ${plugin_sources})
    hocket_use_precompiled(hocket_plugin_${family} hocket_precompiled)
    set_target_properties(hocket_plugin_${family} PROPERTIES OUTPUT_NAME hocket_${family})
    target_link_libraries(hocket_plugin_${family} PRIVATE hocket_engine hocket_mpi_${family})
    target_link_options(hocket_plugin_${family} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/plugin_exports.map)
    set_property(TARGET hocket_plugin_${family} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/plugin_exports.map)
    if(NOT HOCKET_SANITIZE)  # sanitizers leave their run time undefined; else anything missing is an error now, not in a job
      target_link_options(hocket_plugin_${family} PRIVATE -Wl,-z,defs)
    endif()
    hocket_preloaded(hocket_plugin_${family})
  endforeach()
endif()
