// Thrown by set-up code only; converted at the MPI and extern "C" edges.
#pragma once

#include <stdexcept>
#include <string>

namespace hocket {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hocket
