#include "worker/ucx_port.hpp"

#include <utility>

namespace hocket::worker {

namespace {

constexpr std::uint64_t all_bits = ~std::uint64_t{0};

/// UCX need not find out what kind of memory it is.
ucp_request_param_t in_host_memory() noexcept {
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  params.memory_type = UCS_MEMORY_TYPE_HOST;
  return params;
}

Status status_of(ucs_status_t status) noexcept {
  if (status == UCS_OK) return Status::ok;
  if (status == UCS_INPROGRESS) return Status::pending;
  return status == UCS_ERR_NO_MEMORY ? Status::no_memory : Status::failed;
}

}  // namespace

UcxPort::~UcxPort() {
  for (Ticket ticket = 0; ticket < flights_.size(); ++ticket)
    if (flights_[ticket].request) abandon(ticket);
  for (Listener& listener : listeners_) end_listening(listener);
}

void UcxPort::end_listening(Listener& listener) noexcept {
  if (listener.request && fabric_.is_open()) fabric_.end_receive(listener.request, -1);
  listener.request = nullptr;
}

/// `request` is UCX's answer: null if it has ended already, or an error.
Status UcxPort::set_off(Ticket ticket, void* request, Rank peer, bool receives) noexcept {
  if (UCS_PTR_IS_ERR(request)) return flights_.give_back(ticket), status_of(UCS_PTR_STATUS(request));
  flights_[ticket] = {request, peer, receives};
  return Status::ok;
}

Status UcxPort::send(const void* data, std::size_t bytes, Rank to, std::uint32_t tag,
                     Ticket& ticket) noexcept {
  if (!fabric_.is_open()) return Status::failed;
  const ucp_ep_h endpoint = fabric_.endpoint_of(to);
  if (!endpoint) return Status::failed;
  if (!flights_.take(ticket)) return Status::no_memory;
  const ucp_request_param_t params = in_host_memory();
  return set_off(ticket, ucp_tag_send_nbx(endpoint, data, bytes, Tag::of(to, rank_, tag), &params), to,
                 false);
}

/// Also from a process that has gone: what it has sent before may be here already.
Status UcxPort::receive(void* data, std::size_t bytes, Rank from, std::uint32_t tag,
                        Ticket& ticket) noexcept {
  if (!fabric_.is_open()) return Status::failed;
  if (!flights_.take(ticket)) return Status::no_memory;
  const ucp_request_param_t params = in_host_memory();
  void* const request =
      ucp_tag_recv_nbx(fabric_.worker(), data, bytes, Tag::of(rank_, from, tag), all_bits, &params);
  return set_off(ticket, request, from, true);
}

Status UcxPort::test(Ticket ticket) noexcept {
  const Status status = outcome(flights_[ticket]);
  if (status != Status::pending) flights_.give_back(ticket);
  return status;
}

/// UCX lets receives from a process that has gone wait for ever.
Status UcxPort::outcome(Flight& flight) noexcept {
  if (!flight.request) return Status::ok;
  if (!fabric_.is_open()) return flight.request = nullptr, Status::failed;
  const ucs_status_t status = ucp_request_check_status(flight.request);
  if (status != UCS_INPROGRESS) {
    ucp_request_free(std::exchange(flight.request, nullptr));
    if (flight.receives) fabric_.note_heard(flight.peer);
    return status_of(status);
  }
  if (!flight.receives || !fabric_.has_gone(flight.peer)) return Status::pending;
  fabric_.end_receive(std::exchange(flight.request, nullptr), flight.peer);
  return Status::failed;
}

void UcxPort::abandon(Ticket ticket) noexcept {
  Flight& flight = flights_[ticket];
  if (flight.request && fabric_.is_open()) {
    if (flight.receives)
      fabric_.end_receive(flight.request, flight.peer);
    else
      fabric_.keep_sending(flight.request);
  }
  flight.request = nullptr;
  flights_.give_back(ticket);
}

Status UcxPort::look() noexcept {
  if (!fabric_.is_open()) return Status::failed;
  fabric_.progress();
  found_ = heard_.count();
  return lacks_listeners_ ? listen_again() : Status::ok;
}

/// Where the sender has gone in the middle of its message: the place is anybody's. A message that does not
/// fit is of another build.
Status UcxPort::listen_again() noexcept {
  lacks_listeners_ = false;
  for (std::uint32_t place = 0; place < places; ++place) {
    Listener& listener = listeners_[place];
    if (listener.status == UCS_OK) continue;
    if (listener.status == UCS_ERR_MESSAGE_TRUNCATED) return Status::failed;
    ucp_request_free(std::exchange(listener.request, nullptr));
    if (const Status s = listen(place, listener.data, listener.bytes); s != Status::ok) return s;
  }
  return Status::ok;
}

/// A message that has waited for this is heard with the next look. UCX 1.13 would not say whose it is if it
/// completed the receive here: so it is told to call back for that, too.
Status UcxPort::listen(std::uint32_t place, void* data, std::size_t bytes) noexcept {
  if (!fabric_.is_open()) return Status::failed;
  Listener& listener = listeners_[place] = {this, data, bytes, nullptr, UCS_OK};
  ucp_request_param_t params = in_host_memory();
  params.op_attr_mask |=
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  params.cb.recv = on_message;
  params.user_data = &listener;
  void* const request = ucp_tag_recv_nbx(fabric_.worker(), data, bytes, Tag::of(rank_, 0, 0),
                                         all_bits & ~Tag::sender_mask, &params);
  if (UCS_PTR_IS_ERR(request)) return status_of(UCS_PTR_STATUS(request));
  listener.request = request;
  return Status::ok;
}

/// Called from inside of UCX, maybe before it has given the request to us: it is not given back here.
void UcxPort::on_message(void*, ucs_status_t status, const ucp_tag_recv_info_t* info, void* listener) {
  auto& place = *static_cast<Listener*>(listener);
  if (status == UCS_OK) return place.port->hear(place, info->sender_tag);
  place.status = status;
  place.port->lacks_listeners_ = true;
}

void UcxPort::hear(const Listener& listener, std::uint64_t tag) noexcept {
  const auto place = static_cast<std::uint32_t>(&listener - listeners_.data());
  heard_.add(place, Tag::sender(tag));
}

bool UcxPort::heard(std::uint32_t& place, Rank& from) noexcept {
  if (found_ == 0 || !heard_.take(place, from)) return false;
  --found_;
  fabric_.note_heard(from);
  void* const request = std::exchange(listeners_[place].request, nullptr);
  if (request && fabric_.is_open()) ucp_request_free(request);
  return true;
}

}  // namespace hocket::worker
