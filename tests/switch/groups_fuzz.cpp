// For libFuzzer: members and a parent that say whatever a frame may say, in any order, come and go. What the
// switch says itself is in order all the time, and when everybody has gone nothing of anybody is left.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "switch/groups/groups.hpp"
#include "switch/wire/words.hpp"

namespace {

using namespace hocket;
using aggregation::Limits;
using wire::Direction;
using wire::FrameHead;
using wire::FrameKind;

void demand(bool holds) {
  if (!holds) std::abort();
}

constexpr Limits limits{.jobs = 2,
                        .groups = 3,
                        .operations = 8,
                        .operations_per_group = 3,
                        .payload = 64,
                        .window = 256,
                        .join_seconds = 0};  // whoever looks at the clock is late

/// Decisions until the input ends; zeros from then on.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool is_empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (is_empty()) return 0;
    const std::uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }
  std::uint32_t below(std::uint32_t end) { return byte() % end; }

 private:
  std::span<const std::uint8_t> bytes_;
};

/// A connection that takes everything, if it is in order.
class Listener final : public aggregation::Port {
 public:
  Listener(const wire::Hello& hello, Direction hears) : Port(hello, "somebody"), hears_(hears) {}
  void send(FrameHead head, const aggregation::Slice& payload) override {
    head.bytes = static_cast<std::uint32_t>(payload.data.size());
    try {
      wire::check(head, hears_, limits.payload);
    } catch (const Error&) {
      demand(false);  // here: who calls takes it for the fault of whom it has heard
    }
  }

 private:
  const Direction hears_;
};

wire::Error some_error(Input& input) {
  return input.below(4) == 0 ? wire::Error::group_refused : wire::Error::none;
}

/// One that an honest neighbour might send, with any of its fields changed.
class Frame {
 public:
  struct Speaker {
    Direction direction;
    std::uint64_t job;
    std::uint32_t rank;
  };

  Frame(Input& input, const Speaker& speaker) : input_(input), speaker_(speaker) {
    constexpr std::array kinds{FrameKind::data, FrameKind::join,   FrameKind::lock,   FrameKind::unlock,
                               FrameKind::data, FrameKind::joined, FrameKind::locked, FrameKind::leave,
                               FrameKind::data, FrameKind::failed};
    head_.kind = kinds[input.below(kinds.size())];
    head_.group = 1 + input.below(3);
    fill();
  }
  wire::Piece piece() const { return {head_, std::span(payload_).first(head_.bytes)}; }

 private:
  void fill() {
    switch (head_.kind) {
      case FrameKind::join:
        return fill_join();
      case FrameKind::lock:
        if (!is_changed()) return;
        [[fallthrough]];
      case FrameKind::locked:
        return put(wire::Verdict{some_error(input_)});
      case FrameKind::joined:
        return put(wire::Joined{some_error(input_), input_.below(3)});
      case FrameKind::failed:
        return put(wire::failure_of(some_error(input_), "it failed"));
      case FrameKind::data:
        return fill_data();
      default:
        return;
    }
  }

  void fill_join() {
    wire::Join join{
        .job = speaker_.job, .group = head_.group, .size = 2, .ranks = 1, .lowest = speaker_.rank % 2};
    if (is_changed()) join.size = input_.below(6);
    if (is_changed()) join.lowest = input_.below(6);
    if (is_changed()) join.ranks = input_.below(6);
    if (is_changed()) join.job = input_.below(4);
    if (is_changed()) join.group = input_.below(4);
    if (is_changed()) join.error = some_error(input_);
    put(join);
  }

  void fill_data() {
    head_.operation = input_.below(4);
    head_.flags = speaker_.direction == Direction::up ? wire::contributes | wire::wants : 0;
    if (is_changed()) head_.flags |= wire::streaming;
    if (is_changed()) head_.flags ^= input_.byte() & 15U;
    head_.type = is_changed() ? static_cast<kernels::ElementType>(input_.byte()) : kernels::ElementType::u32;
    head_.op = is_changed() ? static_cast<kernels::OpKind>(input_.byte()) : kernels::OpKind::sum;
    head_.total = is_changed() ? std::uint64_t{4} * input_.byte() : 32;
    if (is_changed()) head_.offset = std::uint64_t{4} * input_.byte();
    if ((head_.flags & wire::hollow) == 0)
      head_.bytes = is_changed() ? 4 * input_.byte() : static_cast<std::uint32_t>(head_.total - head_.offset);
    head_.bytes = std::min<std::uint32_t>(head_.bytes, sizeof payload_);
    std::ranges::fill(payload_, std::byte{1});
  }

  bool is_changed() { return input_.below(4) == 3; }

  template <class Value>
  void put(const Value& value) {
    head_.bytes = sizeof value;
    std::ranges::copy(std::as_bytes(std::span(&value, 1)), payload_.begin());
  }

  Input& input_;
  const Speaker speaker_;
  FrameHead head_;
  std::array<std::byte, 1024> payload_{};
};

/// As the daemon treats its connections.
class Switch {
 public:
  explicit Switch(bool has_parent) : site_(limits, has_parent) {
    if (has_parent) take_parent();
    for (std::size_t place = 0; place < children_.size(); ++place) let_in(place);
  }
  ~Switch() {
    lose_parent();
    for (auto& child : children_) see_off(child);
    groups_.sweep();
    demand(groups_.count() == 0 && site_.jobs.count() == 0);
  }

  void turn(Input& input) {
    constexpr std::uint8_t looks = 6, new_parent = 7, new_child = 8, above = 9;
    switch (const std::uint32_t what = input.below(10); what) {
      case looks:
        groups_.look_at_clock();
        break;
      case new_parent:
        if (site_.has_parent) replace_parent();
        break;
      case new_child:
        replace(input.below(children_.size()));
        break;
      case above:
        hear_from_above(Frame(input, {Direction::down, 0, 0}));
        break;
      default:
        hear_from_below(what % children_.size(), input);
    }
    groups_.sweep();
  }

 private:
  void hear_from_below(std::size_t place, Input& input) {
    const Frame frame(input, {Direction::up, job_of(place), static_cast<std::uint32_t>(place)});
    try {
      wire::check(frame.piece().head, Direction::up, limits.payload);
      groups_.hear_from_below(*children_[place], frame.piece());
    } catch (const Error&) {
      replace(place);
    }
  }
  void hear_from_above(const Frame& frame) {
    if (!parent_) return;
    try {
      wire::check(frame.piece().head, Direction::down, limits.payload);
      groups_.hear_from_above(frame.piece());
    } catch (const Error&) {
      replace_parent();
    }
  }

  void take_parent() {
    parent_ = std::make_unique<Listener>(wire::Hello{.is_switch = 1}, Direction::up);
    groups_.set_parent(parent_.get());
  }
  void lose_parent() {
    groups_.set_parent(nullptr, "lost the parent");
    parent_.reset();
  }
  void replace_parent() {
    lose_parent();
    take_parent();
  }

  /// Two hosts of a job, one of another, and a switch, which speaks for others of that.
  static std::uint64_t job_of(std::size_t place) { return 1 + place / 2; }
  void let_in(std::size_t place) {
    wire::Hello hello{.job = job_of(place)};
    hello.is_switch = place == 3 ? 1 : 0;
    demand(hello.is_switch != 0 || site_.jobs.admit(hello.job));
    children_[place] = std::make_unique<Listener>(hello, Direction::down);
  }
  void see_off(std::unique_ptr<Listener>& child) {
    groups_.lose(*child, "lost a child");
    if (!child->is_switch()) site_.jobs.see_off(child->job());
    groups_.sweep();
    child.reset();
  }
  void replace(std::size_t place) {
    see_off(children_[place]);
    let_in(place);
  }

  aggregation::Site site_;
  std::array<std::unique_ptr<Listener>, 4> children_;
  std::unique_ptr<Listener> parent_;
  aggregation::Groups groups_{site_};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  Switch one(input.below(2) == 1);
  while (!input.is_empty()) one.turn(input);
  return 0;
}
