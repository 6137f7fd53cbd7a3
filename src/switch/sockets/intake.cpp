#include "switch/sockets/intake.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace hocket::aggregation {

void Intake::expect(std::size_t bytes) {
  memory_.resize(bytes);
  got_ = 0;
}

Intake::Outcome Intake::receive(const Descriptor& connection) {
  const ssize_t bytes = recv(connection.number(), memory_.data() + got_, memory_.size() - got_, MSG_DONTWAIT);
  if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return Outcome::more;
  if (bytes <= 0) return Outcome::closed;
  got_ += static_cast<std::size_t>(bytes);
  return got_ == memory_.size() ? Outcome::complete : Outcome::more;
}

bool send_at_once(const Descriptor& connection, const void* data, std::size_t bytes) noexcept {
  return send(connection.number(), data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes);
}

}  // namespace hocket::aggregation
