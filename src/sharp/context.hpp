// A job's context in one rank: the trees that it reaches, and the communicators that it made.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "sharp/communicator.hpp"
#include "sharp/out_of_band.hpp"
#include "sharp/settings.hpp"
#include "sharp/statistics.hpp"
#include "sharp/terms.hpp"
#include "sharp/tree.hpp"
#include "switch/wire/frames.hpp"

namespace hocket::sharp {

class Context {
 public:
  /// Of all ranks. Throws Refusal: the same error on all.
  explicit Context(const sharp_coll_init_spec& spec);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Of all members. Throws Refusal: the same error on all.
  Communicator& make_communicator(const sharp_coll_comm_init_spec& spec);
  void destroy(Communicator& communicator);

  /// Keeps other threads out, if there are any. Not held while the caller's functions are called: they may
  /// call back.
  std::unique_lock<std::mutex> guard();
  /// True: there was news.
  bool progress();

  const sharp_coll_init_spec& spec() const noexcept { return spec_; }
  const Terms& terms() const noexcept { return terms_; }
  const std::vector<std::unique_ptr<Tree>>& trees() const noexcept { return trees_; }
  Statistics& statistics() noexcept { return statistics_; }
  bool hides_errors() const noexcept { return (spec_.config.flags & SHARP_COLL_HIDE_ERRORS) != 0; }

  /// Where a fault is asked for.
  void suffer_faults(Communicator& communicator);

 private:
  using Made = std::unique_ptr<Communicator>;

  void enter_trees(const OutOfBand& ranks);
  Terms own_terms(const OutOfBand& ranks);
  double patience_seconds() const noexcept;
  std::vector<Tree*> lost_trees();
  void reach_lost_trees();
  void rest_after(double seconds_in_vain);
  bool rests() const noexcept { return rest_ && !rest_->passed(); }
  void reach(Tree& tree, const Deadline& end);
  int refusal_of_one_more() const noexcept;
  int join(const OutOfBand& members, Made& communicator);
  std::optional<int> answer(const std::function<std::optional<int>()>& ask);

  const sharp_coll_init_spec spec_;
  std::uint64_t job_ = 0;
  wire::Hello hello_;
  Settings settings_;
  Terms terms_;
  std::vector<std::unique_ptr<Tree>> trees_;
  std::vector<Made> communicators_;
  Statistics statistics_;
  std::uint64_t requests_before_ = 0;  ///< posted before a lost tree was last reached again
  std::optional<Deadline> rest_;       ///< until switches are asked for something again
  std::mutex mutex_;
};

}  // namespace hocket::sharp
