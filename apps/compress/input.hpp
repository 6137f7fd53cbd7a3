// The files to compress, one after the other, as one long text of which every rank reads what it needs.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compress/partition.hpp"

namespace compress {

class Input {
 public:
  // Rank 0 looks for the files: paths as they are, folders with all that is in them. At most `most_bytes`.
  // Throws apps::UsageError on all ranks.
  Input(MPI_Comm comm, const std::vector<std::string>& paths, std::uint64_t most_bytes);

  std::uint64_t bytes() const { return bytes_; }
  std::size_t files() const { return files_.size(); }
  void read(const Range& range, char* to) const;

 private:
  struct File {
    std::string path;
    Range range;  // where it is in the whole
  };

  void add(const std::string& path, std::uint64_t size, std::uint64_t most_bytes);

  std::vector<File> files_;
  std::uint64_t bytes_ = 0;
};

}  // namespace compress
