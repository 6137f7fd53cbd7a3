// Shared by the tests of topologies.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "base/error.hpp"

namespace hocket::topology {

inline std::string sample(const std::string& name) {
  std::ifstream file(TEST_DATA "/topology/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What the error says; empty where there is none.
template <class Step>
std::string error_of(Step step) {
  try {
    step();
  } catch (const Error& problem) {
    return problem.what();
  }
  return {};
}

/// A folder of files, until the end of the test.
class Folder {
 public:
  Folder() {
    std::string path = (std::filesystem::temp_directory_path() / "hocket-test-XXXXXX").string();
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  explicit Folder(const std::map<std::string, std::string>& files) : Folder() {
    for (const auto& [name, content] : files) write(name, content);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& content) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace hocket::topology
