#include "worker/ucx_connection.hpp"

#include <stdio.h>

#include <cstdlib>
#include <sstream>

#include "base/error.hpp"

namespace hocket::worker {

namespace {

/// What UCX tells people of an endpoint, the only place where UCX 1.13 names the transports.
std::string told_of(ucp_ep_h endpoint) {
  char* text = nullptr;
  std::size_t bytes = 0;
  FILE* const stream = open_memstream(&text, &bytes);
  if (!stream) return "";
  ucp_ep_print_info(endpoint, stream);
  fclose(stream);
  std::string told(text, bytes);
  free(text);
  return told;
}

/// Of the line "# lane[0]: 2:tcp/eth0.0 md[1] -> ...", as "tcp/eth0"; empty: it is another line.
std::string transport_in(const std::string& line) {
  const std::size_t lane = line.find("lane[");
  const std::size_t name = line.find(':', line.find(':', lane) + 1);
  if (lane == std::string::npos || name == std::string::npos) return "";
  const std::string resource = line.substr(name + 1, line.find(' ', name) - name - 1);
  return resource.substr(0, resource.rfind('.'));
}

}  // namespace

/// Only transports that notice errors are used where they are asked for, which in UCX 1.13 neither the
/// process's own (self) nor those through shared memory are (unless UCX_POSIX_ERROR_HANDLING=y).
void UcxConnection::open(ucp_worker_h worker, std::span<const std::byte> address,
                         std::function<void()> on_error) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
  on_error_ = std::move(on_error);
  if (on_error_) {
    params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {UcxConnection::on_error, this};
  }
  const ucs_status_t status = ucp_ep_create(worker, &params, &endpoint_);
  if (status != UCS_OK) throw Error(ucs_status_string(status));
}

void UcxConnection::on_error(void* connection, ucp_ep_h, ucs_status_t) {
  auto& failed = *static_cast<UcxConnection*>(connection);
  failed.has_failed_ = true;
  failed.on_error_();
}

std::string UcxConnection::transports() const {
  if (!endpoint_) return "nothing";
  std::istringstream lines(told_of(endpoint_));
  std::string names;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = transport_in(line);
    if (name.empty() || names.find(name) != std::string::npos) continue;
    names += (names.empty() ? "" : " and ") + name;
  }
  return names.empty() ? "something unknown" : names;
}

void UcxConnection::start_flushing() noexcept {
  const ucp_request_param_t params{};
  request_ = ucp_ep_flush_nbx(endpoint_, &params);
}

bool UcxConnection::close() noexcept {
  if (endpoint_) start_closing();
  if (is_done()) state_ = State::closed;
  return state_ == State::closed;
}

/// Without asking the other side, which UCX does only where it handles errors. A flush ends with an error.
void UcxConnection::start_closing() noexcept {
  if (UCS_PTR_IS_PTR(request_)) ucp_request_free(request_);
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = on_error_ ? UCP_EP_CLOSE_FLAG_FORCE : 0;
  request_ = ucp_ep_close_nbx(std::exchange(endpoint_, nullptr), &params);
}

bool UcxConnection::is_done() noexcept {
  if (UCS_PTR_IS_PTR(request_)) {
    if (ucp_request_check_status(request_) == UCS_INPROGRESS) return false;
    ucp_request_free(request_);
  }
  request_ = nullptr;
  return true;
}

}  // namespace hocket::worker
