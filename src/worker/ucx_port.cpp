#include "worker/ucx_port.hpp"

#include <algorithm>
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

Status begun(void* answer, void*& request) noexcept {
  if (UCS_PTR_IS_ERR(answer)) return status_of(UCS_PTR_STATUS(answer));
  request = answer;
  return Status::ok;
}

}  // namespace

UcxPort::~UcxPort() {
  for (Ticket ticket = 0; ticket < flights_.size(); ++ticket) give_up(flights_[ticket]);
  for (Listener& listener : listeners_) end_listening(listener);
}

void UcxPort::end_listening(Listener& listener) noexcept {
  if (listener.request && fabric_.is_open()) fabric_.end_receive(listener.request, -1);
  listener.request = nullptr;
}

/// A message longer than what is sent without asking goes in two: first its rest, for which UCX asks, and
/// then so much of it, which is on its way while the answer comes. The answer waits in the link's queue
/// behind what its sender sends: with nothing to send meanwhile, the two directions would take turns. Sender
/// and receiver part it alike, since both know its length; that of one for a place (tag 0), only its sender.
std::size_t UcxPort::head_of(std::size_t bytes, std::uint32_t tag, Rank peer) const noexcept {
  constexpr std::size_t longest_head = 256 << 10, shortest_rest = UcxFabric::unasked_bytes + 1;
  const bool is_whole = tag == 0 || bytes < shortest_rest || !fabric_.is_other(fabric_.process_of(peer));
  return is_whole ? bytes : std::min(longest_head, bytes - shortest_rest);
}

/// `start` has UCX begin a part, and returns its answer: null if that has ended already, or an error.
template <class Start>
Status UcxPort::set_off(const Flight& flight, std::size_t head, std::size_t bytes, Ticket& ticket,
                        Start start) noexcept {
  if (!flights_.take(ticket)) return Status::no_memory;
  auto& [first, last] = (flights_[ticket] = flight).requests;
  Status status = Status::ok;
  if (head < bytes) status = begun(start(head, bytes - head), first);
  if (status == Status::ok) status = begun(start(0, head), last);
  if (status != Status::ok) abandon(ticket);
  return status;
}

Status UcxPort::send(const void* data, std::size_t bytes, Rank to, std::uint32_t tag,
                     Ticket& ticket) noexcept {
  if (!fabric_.is_open()) return Status::failed;
  const ucp_ep_h endpoint = fabric_.endpoint_of(to);
  if (!endpoint) return Status::failed;
  return set_off({{}, to, false}, head_of(bytes, tag, to), bytes, ticket,
                 [&](std::size_t offset, std::size_t length) {
                   const ucp_request_param_t params = in_host_memory();
                   const auto* const begin = static_cast<const std::byte*>(data) + offset;
                   return ucp_tag_send_nbx(endpoint, begin, length, Tag::of(to, rank_, tag), &params);
                 });
}

/// Also from a process that has gone: what it has sent before may be here already.
Status UcxPort::receive(void* data, std::size_t bytes, Rank from, std::uint32_t tag,
                        Ticket& ticket) noexcept {
  if (!fabric_.is_open()) return Status::failed;
  return set_off({{}, from, true}, head_of(bytes, tag, from), bytes, ticket,
                 [&](std::size_t offset, std::size_t length) {
                   const ucp_request_param_t params = in_host_memory();
                   auto* const begin = static_cast<std::byte*>(data) + offset;
                   return ucp_tag_recv_nbx(fabric_.worker(), begin, length, Tag::of(rank_, from, tag),
                                           all_bits, &params);
                 });
}

Status UcxPort::test(Ticket ticket) noexcept {
  const Status status = outcome(flights_[ticket]);
  if (status != Status::pending) abandon(ticket);
  return status;
}

/// An error of one part is the message's, whatever becomes of the other.
Status UcxPort::outcome(Flight& flight) noexcept {
  Status whole = Status::ok;
  for (void*& request : flight.requests) {
    const Status status = outcome(flight, request);
    if (status != Status::ok && status != Status::pending) return status;
    if (status == Status::pending) whole = status;
  }
  return whole;
}

/// UCX lets receives from a process that has gone wait for ever.
Status UcxPort::outcome(const Flight& flight, void*& request) noexcept {
  if (!request) return Status::ok;
  if (!fabric_.is_open()) return request = nullptr, Status::failed;
  const ucs_status_t status = ucp_request_check_status(request);
  if (status != UCS_INPROGRESS) {
    ucp_request_free(std::exchange(request, nullptr));
    if (flight.receives) fabric_.note_heard(flight.peer);
    return status_of(status);
  }
  if (!flight.receives || !fabric_.has_gone(flight.peer)) return Status::pending;
  fabric_.end_receive(std::exchange(request, nullptr), flight.peer);
  return Status::failed;
}

void UcxPort::give_up(Flight& flight) noexcept {
  for (void*& request : flight.requests) {
    void* const ended = std::exchange(request, nullptr);
    if (!ended || !fabric_.is_open()) continue;
    if (flight.receives)
      fabric_.end_receive(ended, flight.peer);
    else
      fabric_.keep_sending(ended);
  }
}

void UcxPort::abandon(Ticket ticket) noexcept {
  give_up(flights_[ticket]);
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
