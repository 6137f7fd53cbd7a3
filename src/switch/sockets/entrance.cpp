#include "switch/sockets/entrance.hpp"

#include <sys/epoll.h>

#include <exception>
#include <utility>

namespace hocket::aggregation {

Entrance::Entrance(Loop& loop, const tcp::Place& place, const tcp::Key& key, Statistics& statistics,
                   Admit admit)
    : loop_(loop),
      listener_(tcp::listen_at(place)),
      key_(key),
      statistics_(statistics),
      admit_(std::move(admit)) {
  loop_.watch(listener_, *this, EPOLLIN);
}

Entrance::~Entrance() {
  loop_.forget(listener_);
}

void Entrance::ready(std::uint32_t /*events*/) {
  if (Descriptor connection = tcp::accept_from(listener_)) let_in(std::move(connection));
}

void Entrance::let_in(Descriptor connection) {
  ++statistics_.connections;
  if (applicants_.size() >= 2 * most_applicants) return;  // of this turn alone
  applicants_.emplace_back(*this, std::move(connection));
}

/// Of too many, the oldest: they have had more time than a member needs.
void Entrance::sweep() {
  std::size_t most = most_applicants;
  for (auto one = applicants_.rbegin(); one != applicants_.rend();) {
    const bool stays = !one->is_done() && !one->is_late() && most > 0;
    if (stays) --most;
    if (!stays && !one->is_done()) ++statistics_.not_admitted;
    ++one;
    if (!stays) one = std::make_reverse_iterator(applicants_.erase(one.base()));
  }
}

Entrance::Applicant::Applicant(Entrance& entrance, Descriptor connection)
    : entrance_(entrance), connection_(std::move(connection)) {
  intake_.expect(sizeof(wire::Greeting));
  entrance_.loop_.watch(connection_, *this, EPOLLIN);
}

Entrance::Applicant::~Applicant() {
  if (connection_) entrance_.loop_.forget(connection_);
}

void Entrance::Applicant::ready(std::uint32_t /*events*/) {
  if (is_done()) return;
  try {
    go_on();
  } catch (const std::exception&) {
    see_off();  // a challenge that is none, or no memory
  }
}

void Entrance::Applicant::go_on() {
  switch (intake_.receive(connection_)) {
    case Intake::Outcome::more:
      return;
    case Intake::Outcome::closed:
      return see_off();
    case Intake::Outcome::complete:
      return step_ == Step::greeting ? hear_greeting() : hear_proof();
  }
}

void Entrance::Applicant::see_off() noexcept {
  ++entrance_.statistics_.not_admitted;
  step_ = Step::done;
}

void Entrance::Applicant::hear_greeting() {
  greeting_ = intake_.value<wire::Greeting>();
  if (greeting_.hello.magic != wire::magic) return see_off();
  challenge_ = tcp::new_challenge();
  const wire::Reply reply{tcp::proof_of(entrance_.key_, wire::role_of_switch, greeting_.challenge),
                          challenge_};
  if (!send_at_once(connection_, &reply, sizeof reply)) return see_off();
  intake_.expect(sizeof(tcp::Proof));
  step_ = Step::proof;
}

void Entrance::Applicant::hear_proof() {
  const tcp::Proof expected = tcp::proof_of(entrance_.key_, wire::role_of_member, challenge_);
  if (!tcp::is_same(intake_.value<tcp::Proof>(), expected)) return see_off();
  step_ = Step::done;
  entrance_.loop_.forget(connection_);
  entrance_.admit_(std::move(connection_), greeting_.hello);
}

}  // namespace hocket::aggregation
