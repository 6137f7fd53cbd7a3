# Flags common to all targets. What is preloaded must run inside arbitrary programs: position-independent, nothing exported
# by accident, no run-time library of its own (see hocket_preloaded).
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)  # C is used for the launcher and stage 0, which speak to the system
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(Threads REQUIRED)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
foreach(language C CXX)
  # Assertions stay on; their level is a run-time option. -g1: a backtrace has functions and lines, and a tenth of the
  # compilation is saved; CXXFLAGS=-g3 adds variables.
  set(CMAKE_${language}_FLAGS_RELWITHDEBINFO "-O2 -g1")
  set(CMAKE_${language}_FLAGS_RELEASE "-O2 -g1")
endforeach()

add_compile_options(-Wall -Wextra -Werror=return-type -fno-strict-aliasing -ffp-contract=off)
if(HOCKET_SANITIZE)
  add_compile_options(-O1 -g1 -fsanitize=${HOCKET_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(HOCKET_SANITIZE MATCHES "address")  # who uses a null pointer is caught by it; asking before each use is a third of the code
    add_compile_options(-fno-sanitize=null)
  endif()
  add_link_options(-fsanitize=${HOCKET_SANITIZE})
endif()

# A library that is loaded into programs that know nothing of it: C++ run time inside and hidden, only libc needed.
function(hocket_preloaded target)
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${HOCKET_LIBRARY_OUTPUT_DIRECTORY} PREFIX lib SUFFIX .so)
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--as-needed -Wl,-z,now -Wl,-z,relro -Wl,--build-id)
  if(NOT HOCKET_SANITIZE)
    target_link_options(${target} PRIVATE -static-libgcc $<$<LINK_LANGUAGE:CXX>:-static-libstdc++>)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION ${HOCKET_LIBDIR})
endfunction()
