// What was decided for non-blocking and persistent calls, by their kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "engine/decision.hpp"
#include "engine/path.hpp"

namespace hocket::engine {

struct Prepared {
  CallKind kind;
  std::uint32_t signature = 0;
  Path path;
  std::uint32_t users = 0;  ///< operations under way and persistent requests: it is not given up meanwhile
  std::uint64_t last_used = 0;

  bool is_native() const noexcept { return path.is_native(); }
};

/// The most recently used ones. Which are still here may differ between ranks: what is decided anew comes out
/// the same.
class PreparedCalls {
 public:
  static constexpr std::size_t capacity = 128;

  explicit PreparedCalls(Report& report) : report_(report) {}

  Prepared* find(const CallKind& kind) noexcept {
    if (!last_ || last_->kind != kind) last_ = look_up(kind);
    if (last_) last_->last_used = ++clock_;
    return last_;
  }
  /// What find() did not find. Throws std::bad_alloc.
  Prepared& make(const CallKind& kind);
  std::size_t size() const noexcept { return calls_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const CallKind& kind) const noexcept { return kind.hash(); }
  };

  Prepared* look_up(const CallKind& kind) const noexcept {
    const auto found = calls_.find(kind);
    return found == calls_.end() ? nullptr : found->second.get();
  }
  void give_up_oldest() noexcept;

  Report& report_;
  std::unordered_map<CallKind, std::unique_ptr<Prepared>, Hash> calls_;
  Prepared* last_ = nullptr;
  std::uint64_t clock_ = 0;
};

}  // namespace hocket::engine
