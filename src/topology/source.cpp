#include "topology/source.hpp"

#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "topology/latency_matrix.hpp"
#include "topology/lines.hpp"
#include "topology/readers.hpp"

namespace hocket::topology {
namespace {

constexpr std::array<std::string_view, 8> all_formats = {"ibnetdiscover", "slurm",     "racks", "matrix",
                                                         "tree",          "synthetic", "sys",   "hwloc"};
constexpr std::size_t most_bytes = std::size_t{1} << 28U;

std::string_view known_format(std::string_view name) {
  const auto* found = std::find(all_formats.begin(), all_formats.end(), name);
  if (found != all_formats.end()) return *found;
  std::string message = "unknown format " + shown(name) + "; there are ";
  for (const std::string_view format : all_formats) message.append(format).append(", ");
  throw Error(message.substr(0, message.size() - 2));
}

bool starts_with_word(std::string_view line, std::string_view word) {
  constexpr unsigned char to_lower = 0x20;
  return line.size() >= word.size() && std::equal(word.begin(), word.end(), line.begin(), [](char w, char c) {
           return w == static_cast<char>(c | to_lower);
         });
}

/// `Switch 36 "S-...`
bool is_of_ibnetdiscover(std::string_view line) {
  const auto found = words(line);
  return found.size() > 2 && found[0] == "Switch" && found[2].starts_with('"');
}

/// `SwitchName = ...`
bool is_of_slurm(std::string_view line) {
  constexpr std::string_view key = "switchname";
  line = trimmed(line);
  return starts_with_word(line, key) && trimmed(line.substr(key.size())).starts_with('=');
}

/// "n0, 0, 1.5": a name, and numbers.
bool is_of_matrix(std::string_view line) {
  const auto found = words(line, " \t\r,;");
  return found.size() > 1 && std::all_of(found.begin() + 1, found.end(), [](std::string_view word) {
           return word.find_first_not_of("0123456789.-+eE") == word.npos;
         });
}

/// No file of words alone has so long lines; and a look at each may not take long.
std::string_view beginning(std::string_view line) {
  constexpr std::size_t longest = 65536;
  return line.substr(0, longest);
}

}  // namespace

std::span<const std::string_view> formats() {
  return all_formats;
}

std::string_view format_of(std::string_view text) {
  if (text.starts_with("<?xml") || text.starts_with("<topology")) return "hwloc";
  if (text.starts_with("network ") || text.starts_with("node ")) return "tree";
  Lines lines(text, {});
  std::size_t said = 0;  // lines that are no remarks
  for (std::string_view line; lines.next(line);) {
    line = beginning(line);
    if (is_of_ibnetdiscover(line)) return "ibnetdiscover";
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (is_of_slurm(line)) return "slurm";
    if (++said == 2 && is_of_matrix(line)) return "matrix";
  }
  return "racks";
}

Source open_source(const std::string& named, std::string_view format) {
  if (!format.empty()) format = known_format(format);
  if (named.find('\n') != named.npos) return {format.empty() ? format_of(named) : format, named, "the text"};
  if (format == "sys" || (format.empty() && is_folder(named))) return {"sys", {}, named};
  if (format == "synthetic" || (format.empty() && !is_file(named))) {
    if (named.find(':') == named.npos)
      throw Error(shown(named) + " is no file, and no machine such as 'leaf:4 node:4'");
    return {"synthetic", named, {}};
  }
  std::string text = read_file(named, most_bytes);
  if (format.empty()) format = format_of(text);
  return {format, std::move(text), named};
}

Tree read(const Source& source) {
  const auto& [format, text, origin] = source;
  if (format == "ibnetdiscover") return tree_of(parse_ibnetdiscover(text, origin));
  if (format == "slurm") return parse_slurm_topology(text, origin);
  if (format == "racks") return parse_rack_file(text, origin);
  if (format == "matrix") return tree_of(parse_latency_matrix(text, origin));
  if (format == "tree") return parse_tree(text, origin);
  if (format == "synthetic") return synthetic(text);
  if (format == "sys") return read_sysfs(origin, "node0");
  if (format == "hwloc")
    throw Error(origin +
                " is for hwloc, which only the tools use: 'hocket topo FILE --save TREE' makes a tree of it");
  throw Error("unknown format " + shown(format));
}

}  // namespace hocket::topology
