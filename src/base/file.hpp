// Small files that a user names.
#pragma once

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace hocket {

/// All of it. `what` it is, for the error: "the rules file 'x' cannot be read".
inline std::string contents_of(const std::string& name, std::string_view what) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::string complaint = "the " + std::string(what) + " file '" + name + "' cannot be read";
  const std::unique_ptr<std::FILE, Close> file(std::fopen(name.c_str(), "re"));
  if (!file) throw Error(complaint);
  std::string text;
  std::array<char, 4096> piece;
  while (!std::feof(file.get()) && !std::ferror(file.get()))
    text.append(piece.data(), std::fread(piece.data(), 1, piece.size(), file.get()));
  if (std::ferror(file.get())) throw Error(complaint);
  return text;
}

}  // namespace hocket
