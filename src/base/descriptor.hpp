// A file descriptor inside somebody else's program: out of the way of low numbers, closed on exec, and not
// believed blindly, since programs exist that close everything they do not know.
#pragma once

#include <sys/types.h>

#include <utility>

namespace hocket {

class Descriptor {
 public:
  Descriptor() = default;
  /// Takes it over. What it refers to is remembered.
  explicit Descriptor(int number);
  Descriptor(Descriptor&& other) noexcept { *this = std::move(other); }
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  /// The same file under a high number; the low one is closed.
  static Descriptor moved_up(int low);

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// False when the program has closed it, even if it has opened something else under the number since.
  bool intact() const;
  void reset();

 private:
  int number_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace hocket
