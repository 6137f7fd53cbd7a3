#include "switch/sockets/stats_server.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "switch/stats_page.hpp"

namespace hocket::aggregation {

namespace {

bool is_later() noexcept {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

StatsServer::StatsServer(Loop& loop, const tcp::Place& place, Answer answer)
    : loop_(loop), listener_(tcp::listen_at(place)), answer_(std::move(answer)) {
  loop_.watch(listener_, *this, EPOLLIN);
}

StatsServer::~StatsServer() {
  loop_.forget(listener_);
}

void StatsServer::ready(std::uint32_t /*events*/) {
  Descriptor connection = tcp::accept_from(listener_);
  if (connection && clients_.size() < most_clients) clients_.emplace_back(*this, std::move(connection));
}

void StatsServer::sweep() {
  clients_.remove_if([](const Client& one) { return one.is_done(); });
}

StatsServer::Client::Client(StatsServer& server, Descriptor connection)
    : server_(server), connection_(std::move(connection)) {
  server_.loop_.watch(connection_, *this, EPOLLIN);
}

StatsServer::Client::~Client() {
  server_.loop_.forget(connection_);
}

void StatsServer::Client::ready(std::uint32_t /*events*/) {
  if (is_done_) return;
  if (answer_.empty())
    hear();
  else
    answer();
}

void StatsServer::Client::hear() {
  std::array<char, longest_request> room;
  const ssize_t bytes = recv(connection_.number(), room.data(), room.size() - request_.size(), MSG_DONTWAIT);
  if (bytes < 0 && is_later()) return;
  if (bytes <= 0) {
    is_done_ = true;
    return;
  }
  request_.append(room.data(), static_cast<std::size_t>(bytes));
  if (!is_whole_request(request_)) return;
  answer_ = server_.answer_(request_);
  server_.loop_.change(connection_, *this, EPOLLOUT);
}

void StatsServer::Client::answer() {
  const ssize_t bytes =
      send(connection_.number(), answer_.data() + sent_, answer_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (bytes < 0 && is_later()) return;
  if (bytes > 0) sent_ += static_cast<std::size_t>(bytes);
  is_done_ = bytes <= 0 || sent_ == answer_.size();
  if (is_done_) shutdown(connection_.number(), SHUT_WR);
}

}  // namespace hocket::aggregation
