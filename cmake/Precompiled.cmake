# The C++ library's headers are half of what compiling most files takes: they are parsed once, here. Files include what they
# use all the same: clang-tidy sees them without this, and -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without it.
file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "")

# hocket_precompile(name headers...): for hocket_use_precompiled(target name), of targets that are compiled with the same flags.
function(hocket_precompile name)
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_precompile_headers(${name} PRIVATE <algorithm> <array> <atomic> <functional> <map> <memory> <mutex> <optional> <span>
                            <string> <unordered_map> <vector> ${ARGN})
endfunction()

function(hocket_use_precompiled target name)
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

hocket_precompile(hocket_precompiled)
