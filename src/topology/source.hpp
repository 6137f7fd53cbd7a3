// What somebody names as the source of a machine's tree: a file, a folder, a text, or words; and which of the
// readers understands it. The command line and the engine ask here, so that both understand the same.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "topology/tree.hpp"

namespace hocket::topology {

struct Source {
  std::string_view format;  ///< one of formats()
  std::string text;         ///< of `sys`, which is a folder: none
  std::string origin;       ///< for errors; of `sys` the folder
};

/// ibnetdiscover, slurm, racks, matrix, tree, synthetic, sys, hwloc.
std::span<const std::string_view> formats();

/// By the look of it. What looks like nothing else is a rack file, which says best what is wrong.
std::string_view format_of(std::string_view text);

/// `named` is a text if it has several lines; else a folder (sys) or file; else words such as "leaf:4
/// node:4". With a format it is that and nothing else. Throws Error.
Source open_source(const std::string& named, std::string_view format = {});

/// Throws Error. What lstopo writes (hwloc) is read by the tools alone, since it needs hwloc.
Tree read(const Source& source);

}  // namespace hocket::topology
