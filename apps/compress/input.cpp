#include "compress/input.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "shared/program.hpp"

namespace compress {
namespace {

namespace fs = std::filesystem;

bool is_readable(const fs::path& path) {
  return access(path.c_str(), R_OK) == 0;
}

// Regular files only, links not followed, in an order that does not depend on the file system.
std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code problem;
  for (const auto& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, problem))
    if (!entry.is_symlink() && entry.is_regular_file() && is_readable(entry.path()))
      found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

std::vector<std::string> files_of(const std::string& path) {
  if (fs::is_directory(path)) return files_below(path);
  if (!fs::is_regular_file(path) || !is_readable(path)) throw apps::UsageError("cannot read '" + path + "'");
  return {path};
}

// Lines of size and path; or, without a size, what is wrong.
std::string listed(const std::vector<std::string>& paths) {
  std::string list;
  try {
    for (const std::string& path : paths)
      for (const std::string& file : files_of(path))
        if (file.find('\n') == std::string::npos)
          list += std::to_string(fs::file_size(file)) + " " + file + "\n";
  } catch (const std::exception& problem) {
    return std::string("wrong ") + problem.what();
  }
  return list;
}

std::string shared_by_rank_0(MPI_Comm comm, std::string text) {
  unsigned long long length = text.size();
  MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, comm);
  text.resize(length);
  MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, comm);
  return text;
}

}  // namespace

Input::Input(MPI_Comm comm, const std::vector<std::string>& paths, std::uint64_t most_bytes) {
  std::istringstream list(shared_by_rank_0(comm, apps::rank_of(comm) == 0 ? listed(paths) : ""));
  for (std::string line; std::getline(list, line);) {
    const std::size_t space = line.find(' ');
    if (line.starts_with("wrong ")) throw apps::UsageError(line.substr(space + 1));
    add(line.substr(space + 1), std::stoull(line), most_bytes);
  }
  if (bytes_ == 0) throw apps::UsageError("there is nothing to compress in these files");
}

void Input::add(const std::string& path, std::uint64_t size, std::uint64_t most_bytes) {
  const std::uint64_t taken = std::min(size, most_bytes - bytes_);
  if (taken == 0) return;
  files_.push_back({path, {bytes_, bytes_ + taken}});
  bytes_ += taken;
}

void Input::read(const Range& range, char* to) const {
  for (const File& file : files_) {
    const Range wanted{std::max(range.begin, file.range.begin), std::min(range.end, file.range.end)};
    if (wanted.begin >= wanted.end) continue;
    std::ifstream stream(file.path, std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(wanted.begin - file.range.begin));
    if (!stream.read(to + (wanted.begin - range.begin), static_cast<std::streamsize>(wanted.size())))
      throw std::runtime_error("cannot read '" + file.path + "'");
  }
}

}  // namespace compress
