#include "worker/ucx_fabric.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "engine/fingerprint.hpp"
#include "worker/tag.hpp"
#include "worker/ucx_port.hpp"

namespace hocket::worker {

namespace {

/// How long to wait for others who may never answer.
constexpr double patience_seconds = 1;
/// In which all that a process has sent before it left should have come.
constexpr double late_seconds = 5;

using State = UcxConnection::State;

void check(ucs_status_t status, const std::string& what) {
  if (status != UCS_OK) throw Error(what + ": " + ucs_status_string(status));
}

/// At the end of an address: UCX believes whatever it is given.
using Seal = std::uint64_t;

Seal seal_of(std::span<const std::byte> address) {
  return engine::hash_of({reinterpret_cast<const char*>(address.data()), address.size()});
}

void check_seal(const std::vector<std::byte>& address) {
  Seal seal = 0;
  const bool is_long_enough = address.size() > sizeof seal;
  const std::size_t bytes = is_long_enough ? address.size() - sizeof seal : 0;
  if (is_long_enough) std::memcpy(&seal, address.data() + bytes, sizeof seal);
  if (!is_long_enough || seal != seal_of(std::span(address).first(bytes)))
    throw Error("what is said to be the address of a worker process is none");
}

/// An option of UCX's, if the user has not set it.
void set_default(ucp_config_t* config, const char* name, const char* value) {
  if (!std::getenv((std::string("UCX_") + name).c_str())) ucp_config_modify(config, name, value);
}

}  // namespace

std::unique_ptr<Fabric> open_network(const std::string& device) {
  return UcxFabric::open(device);
}

std::unique_ptr<UcxFabric> UcxFabric::open(const std::string& device) {
  return std::unique_ptr<UcxFabric>(new UcxFabric(device));
}

UcxFabric::UcxFabric(const std::string& device) {
  open_context(device);
  open_worker();
  read_address();
}

/// UCX prints what it thinks of a peer that has ended. Whoever asks learns that from us. On networks with
/// registered memory it must not believe that mapped memory of a rank is still where it was: the rank gives
/// pages back to the system, and nothing in this process tells UCX.
void UcxFabric::open_context(const std::string& device) {
  setenv("UCX_IB_REG_METHODS", "direct", 0);
  ucp_config_t* config = nullptr;
  check(ucp_config_read(nullptr, nullptr, &config), "UCX cannot read its options");
  set_default(config, "LOG_LEVEL", "fatal");
  set_default(config, "RNDV_THRESH", std::to_string(unasked_bytes).c_str());
  if (!device.empty()) ucp_config_modify(config, "NET_DEVICES", device.c_str());
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_TAG_SENDER_MASK | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
  params.tag_sender_mask = Tag::sender_mask;
  params.name = "hocketd";
  ucp_context_h context = nullptr;
  const ucs_status_t status = ucp_init(&params, config, &context);
  ucp_config_release(config);
  check(status, "UCX cannot begin");
  context_.reset(context);
}

/// What is given up does not come back before the end, which is no leak.
void UcxFabric::open_worker() {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS;
  params.thread_mode = UCS_THREAD_MODE_SINGLE;
  params.flags = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK;
  ucp_worker_h worker = nullptr;
  check(ucp_worker_create(context_.get(), &params, &worker), "UCX finds no transport");
  worker_.reset(worker);
  check(ucp_worker_get_efd(worker, &descriptor_), "UCX tells of no events");
}

void UcxFabric::read_address() {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check(ucp_worker_get_address(worker(), &address, &bytes), "UCX has no address");
  const auto* begin = reinterpret_cast<const std::byte*>(address);
  address_.assign(begin, begin + bytes);
  const Seal seal = seal_of(address_);
  const auto* const last = reinterpret_cast<const std::byte*>(&seal);
  address_.insert(address_.end(), last, last + sizeof seal);
  ucp_worker_release_address(worker(), address);
}

void UcxFabric::connect(const std::vector<std::vector<std::byte>>& addresses,
                        std::vector<std::uint32_t> process_of) {
  if (process_of.size() > Tag::most_ranks)
    throw Error("worker processes serve " + std::to_string(Tag::most_ranks) + " ranks at most, not " +
                std::to_string(process_of.size()));
  if (std::ranges::any_of(process_of, [&](std::uint32_t process) { return process >= addresses.size(); }))
    throw Error("a rank is served by a worker process without an address");
  std::ranges::for_each(addresses, check_seal);
  own_ = own_among(addresses);
  process_of_ = std::move(process_of);
  processes_.resize(addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) try {
      connect_to(i, addresses[i]);
    } catch (const Error& error) {
      throw Error("UCX cannot reach worker process " + std::to_string(i) + ": " + error.what());
    }
}

std::uint32_t UcxFabric::own_among(const std::vector<std::vector<std::byte>>& addresses) const {
  const auto own = std::ranges::find(addresses, address_);
  if (own == addresses.end()) throw Error("the addresses of worker processes lack this process's own");
  return static_cast<std::uint32_t>(own - addresses.begin());
}

/// UCX takes the first endpoint that each of two processes makes to the other for one connection, and the
/// second for another. The first carries what the process of the lower index sends.
void UcxFabric::connect_to(std::size_t index, const std::vector<std::byte>& address) {
  Process& process = processes_[index];
  if (index == own_) return process.to.open(worker(), address, {});
  const auto open_to = [&] { process.to.open(worker(), address, [&] { cannot_send_to(process); }); };
  if (own_ < index) open_to();
  process.from.open(worker(), address, [&] { lose(process); });
  if (own_ > index) open_to();
}

std::unique_ptr<transports::mpi::Port> UcxFabric::port(Rank self, Rank ranks) {
  if (ranks < 0 || static_cast<std::size_t>(ranks) != process_of_.size())
    throw Error("a port for a world of " + std::to_string(ranks) + " ranks, but " +
                std::to_string(process_of_.size()) + " were connected");
  if (self < 0 || self >= ranks || process_of_[static_cast<std::size_t>(self)] != own_)
    throw Error("rank " + std::to_string(self) + " is not served by this worker process");
  return std::make_unique<UcxPort>(*this, self, ranks);
}

void UcxFabric::progress() noexcept {
  const unsigned came = ucp_worker_progress(worker());
  moved_ += came;
  if (any_unsettled_) settle(came == 0);
}

/// What is left to be done must be done before a rest: nothing else tells of it.
Alarm UcxFabric::alarm() noexcept {
  if (!is_open() || any_unsettled_) return {.is_deaf = true};
  const bool may_rest = ucp_worker_arm(worker()) == UCS_OK;
  return may_rest ? Alarm{.descriptor = descriptor_} : Alarm{.has_rung = true};
}

template <class Done>
bool UcxFabric::progress_until(Done done, double seconds) noexcept {
  const Deadline deadline(seconds);
  while (!done()) {
    if (deadline.passed()) return false;
    progress();
    std::this_thread::yield();
  }
  return true;
}

ucp_ep_h UcxFabric::endpoint_of(Rank rank) noexcept {
  Process& process = process_of(rank);
  process.sent_to = true;
  return process.to.endpoint();
}

void UcxFabric::lose(Process& process) noexcept {
  process.to.lose();
  process.from.lose();
  any_unsettled_ = true;
}

/// It has ended, or has given this process up. What it sent before may still be on its way: its other
/// connection ends after that. But that one may never have been made: so not for ever.
void UcxFabric::cannot_send_to(Process& process) noexcept {
  process.to.lose();
  process.patience.emplace(late_seconds);
  any_unsettled_ = true;
}

void UcxFabric::settle(bool nothing_came) noexcept {
  any_unsettled_ = false;
  for (Process& process : processes_) {
    if (process.patience && nothing_came && process.patience->passed()) process.from.lose();
    for (UcxConnection* const one : {&process.to, &process.from})
      if (one->state() == State::lost && !one->close()) any_unsettled_ = true;
    if (process.patience && process.from.state() == State::open) any_unsettled_ = true;
  }
}

/// UCX can take back a receive that has met no message. One that has goes on: its sender is at work, so that
/// it ends soon; or it has failed, and its connection with it; or else it is given up, with which a long
/// message ends here, too. Only one that came without asking may then still come.
void UcxFabric::end_receive(void* request, Rank from) noexcept {
  const auto is_safe = [&] {
    return ucp_request_check_status(request) != UCS_INPROGRESS || (from >= 0 && is_cut_off(from));
  };
  ucp_request_cancel(worker(), request);
  if (!progress_until(is_safe, patience_seconds)) {
    if (from >= 0 && is_other(process_of(from))) lose(process_of(from));
    if (!progress_until(is_safe, patience_seconds)) return give_up();
  }
  ucp_request_free(request);
}

/// A send cannot be taken back: UCX reads its memory when the receiver asks for it.
void UcxFabric::keep_sending(void* request) noexcept {
  try {
    given_up_.push_back(request);
  } catch (...) {
    ucp_request_free(request);
    forgot_given_up_ = true;
  }
}

bool UcxFabric::still_reads() noexcept {
  std::erase_if(given_up_, [](void* request) {
    const bool ended = ucp_request_check_status(request) != UCS_INPROGRESS;
    if (ended) ucp_request_free(request);
    return ended;
  });
  return forgot_given_up_ || !given_up_.empty();
}

std::string UcxFabric::carriers() const {
  if (!is_open() || processes_.empty()) return "nothing";
  std::map<std::string, std::size_t> others;
  for (const Process& process : processes_)
    if (is_other(process)) ++others[process.to.transports()];
  std::string line = processes_[own_].to.transports() + " within this process";
  for (const auto& [names, count] : others) line += "; " + names + " to " + std::to_string(count);
  return line;
}

/// The end of all connections: none may be the one by which memory is written.
void UcxFabric::give_up() noexcept {
  end();
  given_up_.clear();
  forgot_given_up_ = false;
}

UcxFabric::~UcxFabric() {
  if (!is_open()) return;
  flush();
  end();
}

/// A flush would connect to whom nothing was sent, and from whom nothing has come. Answers are sent, too.
void UcxFabric::flush() noexcept {
  for (Process& process : processes_) {
    if (!is_other(process)) continue;
    if (process.sent_to && process.to.endpoint()) process.to.start_flushing();
    if (process.heard && process.from.endpoint()) process.from.start_flushing();
  }
  const auto is_sent = [](Process& process) {
    const bool all = process.to.is_done();
    return process.from.is_done() && all;
  };
  progress_until([&] { return std::ranges::all_of(processes_, is_sent); }, patience_seconds);
}

/// UCX would abort this process if it ended before its endpoints: then it is left as it is, and never looked
/// at.
void UcxFabric::end() noexcept {
  for (Process& process : processes_) lose(process);
  if (!progress_until([&] { return !any_unsettled_; }, patience_seconds)) {
    [[maybe_unused]] const auto* const worker = worker_.release();
    [[maybe_unused]] const auto* const context = context_.release();
  }
  worker_.reset();
}

}  // namespace hocket::worker
