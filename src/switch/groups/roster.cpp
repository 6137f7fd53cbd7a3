#include "switch/groups/roster.hpp"

#include <algorithm>

namespace hocket::aggregation {

Child& Roster::add(Group& group, Port& port, std::uint32_t number) {
  Child& child = *children_.emplace_back(std::make_unique<Child>());
  child.port = &port;
  child.number = number;
  port.seats[number] = {&group, &child};
  return child;
}

void Roster::remove(Child& child) {
  child.port->seats.erase(child.number);
  std::erase_if(children_, [&](const auto& one) { return one.get() == &child; });
}

void Roster::put_in_order() {
  std::ranges::sort(children_, {}, [](const auto& child) { return child->lowest; });
  for (std::size_t i = 0; i < children_.size(); ++i) children_[i]->index = i;
}

void Roster::open_above(Group& group, Port& above, std::uint32_t number) {
  above_ = &above;
  number_above_ = number;
  above.seats[number] = {&group, nullptr};
}

void Roster::close_above() noexcept {
  if (above_) above_->seats.erase(number_above_);
  above_ = nullptr;
}

void Roster::send_up(wire::FrameHead head, const Slice& payload) const {
  if (!above_) return;
  head.group = number_above_;
  above_->send(head, payload);
}

void Roster::send_down(const Child& child, wire::FrameHead head, const Slice& payload) {
  head.group = child.number;
  child.port->send(head, payload);
}

void Roster::forget() noexcept {
  close_above();
  for (const auto& child : children_) child->port->seats.erase(child->number);
  children_.clear();
}

}  // namespace hocket::aggregation
