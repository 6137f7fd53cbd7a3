#include "ir/interpret.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "ir/stepper.hpp"

namespace hocket::ir {

namespace {

using Bytes = std::vector<std::byte>;

class Interpreter : public Actions {
 public:
  Interpreter(const Program& program, std::span<UserBuffers> users, const Fold& fold)
      : program_(program),
        users_(users),
        fold_(fold),
        private_(program.ranks()),
        messages_(program.messages()),
        aggregations_(program.aggregations()) {
    for (Rank r = 0; r < program.ranks(); ++r) {
      private_[r].staging.resize(std::size_t{program.chunks()} * program.of(r).staging.planes);
      private_[r].scratch.resize(std::size_t{program.chunks()} * program.of(r).scratch_planes);
    }
  }

  void local(Place place, const Op& op) override {
    if (op.code == OpCode::expose) return;
    const auto sources = program_.of(place.rank).regions_of(op);
    for (std::uint32_t i = 0; i < op.target.count; ++i) {
      Bytes value = load(place, sources[0], sources[0].first + i);
      for (const Region& source : sources.subspan(1)) {
        const Bytes right = load(place, source, source.first + i);
        if (right.size() != value.size()) program_.fail(place, "folds chunks of different sizes");
        fold_(value, right);
      }
      store(place, op.target, op.target.first + i, std::move(value));
    }
  }

  void signal(Place, const Op&) override {}
  void waited(Place, Rank, std::uint32_t) override {}
  void post_recv(Place, const Op&, MessageId) override {}
  void complete_send(Place, const Op&, MessageId) override {}

  void post_send(Place place, const Op& op, MessageId id) override {
    for (const Region& r : program_.of(place.rank).regions_of(op))
      for (std::uint32_t n = r.first; n < r.first + r.count; ++n) messages_[id].push_back(load(place, r, n));
  }

  void complete_recv(Place place, const Op& op, MessageId id) override {
    auto value = messages_[id].begin();
    for (const Region& r : program_.of(place.rank).regions_of(op))
      for (std::uint32_t n = r.first; n < r.first + r.count; ++n) store(place, r, n, std::move(*value++));
  }

  void start(Place place, const Op& op, AggregationId id) override {
    auto& given = aggregations_[id];
    given.resize(program_.starts(id).size());
    each_chunk(program_.of(place.rank).regions_of(op), [&](const Region& r, std::uint32_t n) {
      given[program_.member(id, place.rank)].push_back(load(place, r, n));
    });
  }

  void settle(Place start, const Op& op, AggregationId id) override {
    std::size_t i = 0;
    each_chunk(std::span(&op.target, 1),
               [&](const Region& r, std::uint32_t n) { store(start, r, n, folded(aggregations_[id], i++)); });
  }

 private:
  template <class Visit>
  static void each_chunk(std::span<const Region> regions, Visit visit) {
    for (const Region& r : regions)
      for (std::uint32_t n = r.first; n < r.first + r.count; ++n) visit(r, n);
  }

  /// Of all who contribute, in the group's order.
  Bytes folded(const std::vector<std::vector<Bytes>>& given, std::size_t i) const {
    Bytes value;
    bool is_first = true;
    for (const auto& chunks : given) {
      if (chunks.empty()) continue;
      if (std::exchange(is_first, false))
        value = chunks[i];
      else
        fold_(value, chunks[i]);
    }
    return value;
  }

  struct Private {
    std::vector<Bytes> staging, scratch;  ///< a chunk takes the size of what is written there
  };

  Bytes load(Place place, const Region& region, std::uint32_t n) const {
    const Rank owner = region.owner == self ? place.rank : region.owner;
    switch (region.buffer) {
      case Buffer::input:
        return copy_of(users_[owner].input.at(n));
      case Buffer::output:
        return copy_of(users_[owner].output.at(n));
      case Buffer::staging:
        return private_[owner].staging.at(n);
      case Buffer::scratch:
        break;
    }
    return private_[owner].scratch.at(n);
  }

  static Bytes copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

  void store(Place place, const Region& region, std::uint32_t n, Bytes value) {
    if (region.buffer == Buffer::staging) return void(private_[place.rank].staging.at(n) = std::move(value));
    if (region.buffer == Buffer::scratch) return void(private_[place.rank].scratch.at(n) = std::move(value));
    const auto target = users_[place.rank].output.at(n);
    if (target.size() != value.size()) program_.fail(place, "a chunk of another size arrives");
    std::ranges::copy(value, target.begin());
  }

  const Program& program_;
  std::span<UserBuffers> users_;
  const Fold& fold_;
  std::vector<Private> private_;
  std::vector<std::vector<Bytes>> messages_;
  std::vector<std::vector<std::vector<Bytes>>> aggregations_;  ///< what each member gives, chunk by chunk
};

}  // namespace

std::vector<std::span<std::byte>> cut(std::span<std::byte> buffer, std::span<const std::size_t> sizes) {
  std::vector<std::span<std::byte>> chunks;
  for (const std::size_t size : sizes) {
    chunks.push_back(buffer.first(size));
    buffer = buffer.subspan(size);
  }
  return chunks;
}

void interpret(std::span<const Schedule> schedules, std::span<UserBuffers> buffers, const Fold& fold,
               Sizes sizes, std::uint64_t interleaving) {
  const Program program(schedules, sizes, false);
  if (buffers.size() != schedules.size()) throw Error("there must be buffers for every rank");
  Interpreter interpreter(program, buffers, fold);
  run(program, interpreter, interleaving);
}

}  // namespace hocket::ir
