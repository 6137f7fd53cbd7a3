// Files of other people: of a bounded size, and nothing that one waits for without end.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hocket {

/// Waits for a pipe, but not longer than a minute for the next piece. Throws Error where it cannot be read,
/// or is longer than this; the error begins with `what` it is.
std::string read_file(const std::string& path, std::size_t most_bytes, const std::string& what = "");
/// Of what is written by hand: rules, costs.
inline constexpr std::size_t most_bytes_by_hand = std::size_t{1} << 24U;
/// Nothing where it cannot be read: much of /sys is missing here and there. Never waits.
std::optional<std::string> read_if_there(const std::string& path, std::size_t most_bytes);

/// Anew. False: it could not be written whole.
bool write_file(const std::string& path, std::string_view text);

bool is_folder(const std::string& path);
/// A file or a pipe: all that is there and no folder.
bool is_file(const std::string& path);

}  // namespace hocket
