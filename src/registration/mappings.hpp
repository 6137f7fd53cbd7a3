// What the kernel says about mappings of this process.
#pragma once

#include "registration/pages.hpp"

namespace hocket::registration {

/// All of them are there, and nobody but this process can put others in their place: no file, nothing shared.
bool are_private_memory(const Pages& pages) noexcept;

}  // namespace hocket::registration
