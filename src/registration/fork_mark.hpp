// Knows a child of fork() without a system call: the kernel wipes this page there, whoever forks and however.
#pragma once

namespace hocket::registration {

class ForkMark {
 public:
  /// Throws Error where there is none.
  ForkMark();
  ~ForkMark();
  ForkMark(const ForkMark&) = delete;
  ForkMark& operator=(const ForkMark&) = delete;

  bool is_in_child() const noexcept { return *page_ == 0; }

 private:
  volatile char* page_;
};

}  // namespace hocket::registration
