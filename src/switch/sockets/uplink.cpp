#include "switch/sockets/uplink.hpp"

#include <sys/epoll.h>

#include <cstring>
#include <exception>
#include <utility>

#include "base/error.hpp"

namespace hocket::aggregation {

namespace {

constexpr double seconds_between = 0.2;
constexpr double patience_seconds = 5;

}  // namespace

void Uplink::look_at_clock() {
  if (end_ && !end_->passed()) return;
  if (step_ == Step::resting)
    begin();
  else
    give_up("it says nothing");
}

void Uplink::begin() {
  connection_ = begin_to_connect(addresses_[tried_++ % addresses_.size()]);
  if (!connection_) return give_up("it cannot be connected to");
  step_ = Step::connecting;
  end_.emplace(patience_seconds);
  loop_.watch(connection_, *this, EPOLLOUT);
}

void Uplink::give_up(const std::string& why) {
  if (connection_) loop_.forget(connection_);
  connection_.reset();
  step_ = Step::resting;
  end_.emplace(seconds_between);
  why_not_ = why;
}

void Uplink::ready(std::uint32_t /*events*/) {
  try {
    go_on();
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

void Uplink::go_on() {
  if (step_ == Step::connecting) return greet();
  if (step_ == Step::resting) return;
  switch (intake_.receive(connection_)) {
    case Intake::Outcome::more:
      return;
    case Intake::Outcome::closed:
      throw Error("it has closed the connection: another key, or no switch");
    case Intake::Outcome::complete:
      return step_ == Step::reply ? hear_reply() : hear_welcome();
  }
}

void Uplink::greet() {
  if (const int error = outcome_of(connection_)) throw Error(std::strerror(error));
  greeting_ = wire::greeting_of({.is_switch = 1});
  if (!send_at_once(connection_, &greeting_, sizeof greeting_)) throw Error("it takes nothing");
  intake_.expect(sizeof(wire::Reply));
  step_ = Step::reply;
  loop_.change(connection_, *this, EPOLLIN);
}

void Uplink::hear_reply() {
  const tcp::Proof proof = wire::answer_to(intake_.value<wire::Reply>(), key_, greeting_);
  if (!send_at_once(connection_, &proof, sizeof proof)) throw Error("it takes nothing");
  intake_.expect(sizeof(wire::Welcome));
  step_ = Step::welcome;
}

/// What is promised here has to be kept there.
void Uplink::check(const wire::Welcome& welcome) const {
  wire::check(welcome);
  const bool is_enough = welcome.window >= limits_.window &&
                         welcome.payload_per_operation >= limits_.payload &&
                         welcome.operations_per_group >= limits_.operations_per_group &&
                         (welcome.can_stream != 0 || !limits_.can_stream);
  if (!is_enough) throw Error("it allows less than this switch: start both with the same limits");
}

void Uplink::hear_welcome() {
  check(intake_.value<wire::Welcome>());
  loop_.forget(connection_);
  step_ = Step::resting;
  end_.emplace(seconds_between);
  why_not_.clear();
  reached_(std::move(connection_));
}

}  // namespace hocket::aggregation
