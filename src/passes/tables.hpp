// Numbers about all ranks of a communicator, such as the node of each. All ranks would work out the same
// ones, so that one copy is enough for those who share memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace hocket::passes {

using Table = std::span<const std::uint32_t>;
using NewTable = std::span<std::uint32_t>;  ///< zero at first

class Tables {
 public:
  virtual ~Tables() = default;
  /// The table of that name: `size` numbers, written by `fill` unless somebody has. They stay where they are
  /// as long as this does. Throws what `fill` throws.
  Table get(std::uint64_t name, std::size_t size, const std::function<void(NewTable)>& fill) {
    const auto known = known_.find(name);
    return known != known_.end() ? known->second : known_.emplace(name, make(name, size, fill)).first->second;
  }

 private:
  virtual Table make(std::uint64_t name, std::size_t size, const std::function<void(NewTable)>& fill) = 0;
  std::map<std::uint64_t, Table> known_;
};

/// In memory of this process.
class OwnTables final : public Tables {
  Table make(std::uint64_t, std::size_t size, const std::function<void(NewTable)>& fill) override {
    std::vector<std::uint32_t> table(size);
    fill(table);
    all_.push_back(std::move(table));
    return all_.back();
  }
  std::vector<std::vector<std::uint32_t>> all_;
};

/// A table part by part.
template <class Number>
class PartsOf {
 public:
  explicit PartsOf(std::span<Number> table) : rest_(table) {}
  std::span<Number> next(std::size_t size) {
    const auto part = rest_.first(size);
    rest_ = rest_.subspan(size);
    return part;
  }

 private:
  std::span<Number> rest_;
};

}  // namespace hocket::passes
