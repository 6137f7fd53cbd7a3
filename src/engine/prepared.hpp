// What was decided for non-blocking and persistent calls, by their kind, and what numbers them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/decision.hpp"
#include "engine/outstanding.hpp"
#include "engine/path.hpp"

namespace hocket::engine {

struct Prepared;

/// Calls that all ranks start in the same order: those of a communicator's non-blocking operations, or of one
/// persistent request.
class Starts {
 public:
  virtual ~Starts() = default;
  /// Numbers the operation, which the call outlives. Null: it cannot be, and the communicator has failed.
  virtual Outstanding* start(const Prepared& prepared, const Call& call) noexcept = 0;
};

struct Prepared {
  CallKind kind;
  std::uint32_t signature = 0;
  Path path;
  Path single_copy;  ///< instead, in operations whose ranks turn out to read each other's memory; or native
  std::uint32_t found_out = 0;  ///< how much blocking calls had, when it was decided
  std::uint32_t users = 0;      ///< operations under way: it is not given up meanwhile
  std::uint64_t last_used = 0;
  std::unique_ptr<Starts> own_starts;  ///< of a persistent request; null: the communicator's

  bool is_native() const noexcept { return path.is_native(); }
  bool has_choice() const noexcept { return !single_copy.is_native(); }
};

/// The same for one persistent request, which keeps it. Throws std::bad_alloc.
std::unique_ptr<Prepared> own_copy_of(const Prepared& prepared);

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
  /// What find() did not find, or found to be out of date. Throws std::bad_alloc.
  Prepared& add(std::unique_ptr<Prepared> prepared);
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
  void replace(std::unique_ptr<Prepared>& old, std::unique_ptr<Prepared> prepared);

  Report& report_;
  std::unordered_map<CallKind, std::unique_ptr<Prepared>, Hash> calls_;
  std::vector<std::unique_ptr<Prepared>> outdated_;  ///< that operations under way still use
  Prepared* last_ = nullptr;
  std::uint64_t clock_ = 0;
};

}  // namespace hocket::engine
