#include "topology/cpus.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <unordered_map>

#include "base/error.hpp"

namespace hocket::topology {
namespace {

struct Level {
  Kind kind;
  std::int64_t Cpu::* of;
};

constexpr std::array<Level, 3> levels = {
    {{Kind::package, &Cpu::package}, {Kind::numa, &Cpu::numa}, {Kind::l3, &Cpu::l3}}};

auto place_of(const Cpu& cpu) {
  return std::tie(cpu.package, cpu.numa, cpu.l3, cpu.core, cpu.number);
}

bool share_a_core(const Cpu& a, const Cpu& b) {
  return a.package == b.package && a.numa == b.numa && a.l3 == b.l3 && a.core == b.core;
}

class Inside {
 public:
  explicit Inside(const std::string& node) : tree_(Kind::node, node) {}

  /// Cores of one part stand together.
  void add(std::span<const Cpu> core) {
    Tree::Id parent = Tree::root;
    bool is_new = is_empty_;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const std::int64_t number = core.front().*levels[i].of;
      is_new = is_new || number != open_[i].number;
      if (number != Cpu::unknown && is_new)
        open_[i].vertex = tree_.add(parent, levels[i].kind, name(levels[i].kind, number));
      open_[i].number = number;
      if (number != Cpu::unknown) parent = open_[i].vertex;
    }
    tree_.add(parent, Kind::core, cpus_of(core));
    is_empty_ = false;
  }

  Tree tree() && { return std::move(tree_); }

 private:
  struct Open {
    std::int64_t number = Cpu::unknown;
    Tree::Id vertex = Tree::root;
  };

  std::string name(Kind kind, std::int64_t number) {
    if (kind != Kind::l3) return std::to_string(number);
    return std::to_string(l3s_.try_emplace(number, l3s_.size()).first->second);
  }

  static std::string cpus_of(std::span<const Cpu> core) {
    std::string text;
    for (const Cpu& cpu : core) text += (text.empty() ? "" : ",") + std::to_string(cpu.number);
    return text.size() <= Tree::longest_name ? text : std::to_string(core.front().number) + ",...";
  }

  Tree tree_;
  bool is_empty_ = true;
  std::array<Open, levels.size()> open_;
  std::unordered_map<std::int64_t, std::size_t> l3s_;
};

}  // namespace

Tree tree_of(const std::string& node, std::vector<Cpu> cpus) {
  for (Cpu& cpu : cpus)
    if (cpu.core == Cpu::unknown) cpu.core = cpu.number;
  std::sort(cpus.begin(), cpus.end(), [](const Cpu& a, const Cpu& b) { return place_of(a) < place_of(b); });
  Inside inside(node);
  for (auto first = cpus.begin(); first != cpus.end();) {
    const auto last =
        std::find_if_not(first, cpus.end(), [&](const Cpu& c) { return share_a_core(*first, c); });
    inside.add({first, last});
    first = last;
  }
  return std::move(inside).tree();
}

}  // namespace hocket::topology
