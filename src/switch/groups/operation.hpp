// An operation: the children's parts of it are combined in the order of the children, from any prefix that
// all of them have sent. So the result depends on who the children are, and never on when they send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "switch/groups/backlog.hpp"
#include "switch/groups/shape.hpp"
#include "switch/groups/slice.hpp"

namespace hocket::aggregation {

/// What a group cannot go on with, though no member has broken the rules of the wire.
class Disagreement : public Error {
 public:
  Disagreement(wire::Error error, const std::string& words) : Error(words), error_(error) {}
  wire::Error error() const noexcept { return error_; }

 private:
  wire::Error error_;
};

/// Bytes of an operation that have become complete. No data: nobody contributes, or nobody wants it.
struct Advance {
  std::uint64_t from = 0, to = 0;
  Slice data;
};

class Operation {
 public:
  /// Throws Disagreement for what no kernel combines.
  Operation(const Shape& shape, std::size_t children);

  const Shape& shape() const noexcept { return shape_; }
  bool has_begun(std::size_t child) const noexcept { return parts_[child].has_begun; }
  bool wants(std::size_t child) const noexcept { return parts_[child].wants; }
  /// Up to where this child has sent it.
  std::uint64_t reach(std::size_t child) const noexcept { return parts_[child].reach; }
  bool have_all_begun() const noexcept { return begun_ == parts_.size(); }
  // Known when all have begun, so with the first advance.
  bool is_contributed_to() const noexcept { return !contributing_.empty(); }
  bool is_wanted() const noexcept { return is_wanted_; }
  /// Up to where the children's parts have been combined.
  std::uint64_t combined() const noexcept { return combined_; }

  /// What a child sends. Throws wire::Malformed for what does not follow what it has sent, and Disagreement.
  std::optional<Advance> take(std::size_t child, const wire::FrameHead& head,
                              std::span<const std::byte> payload);

  /// Up to where the result has gone down.
  std::uint64_t result = 0;

 private:
  struct Part {
    bool has_begun = false, contributes = false, wants = false;
    std::uint64_t reach = 0;
    Backlog backlog;
  };
  /// What has just come, of a child: used where it lies as far as the others have come, too.
  struct Fresh {
    std::size_t child = 0;
    std::span<const std::byte> data;
  };

  void note(Part& part, const wire::FrameHead& head);
  void all_have_begun();
  std::uint64_t common_reach() const noexcept;
  std::optional<Advance> advance(Fresh& fresh);
  Slice combine(std::size_t bytes, Fresh& fresh);
  std::size_t line_up(Fresh& fresh, std::size_t bytes);
  void drop(Fresh& fresh, std::size_t bytes) noexcept;

  const Shape shape_;
  const std::size_t unit_;
  const kernels::ReduceFn reduce_;  ///< null: nothing is combined
  std::vector<Part> parts_;         ///< in the order of the children
  std::size_t begun_ = 0;
  std::vector<std::size_t> contributing_;  ///< children, in order
  std::vector<const void*> sources_;       ///< their next bytes
  bool is_wanted_ = false;
  std::uint64_t combined_ = 0;
};

}  // namespace hocket::aggregation
