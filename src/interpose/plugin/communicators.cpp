#include "interpose/plugin/communicators.hpp"

#include <mutex>
#include <new>
#include <vector>

#include "base/error.hpp"
#include "interpose/plugin/explain.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/origins.hpp"
#include "interpose/plugin/requests/aside.hpp"
#include "interpose/plugin/requests/own_requests.hpp"
#include "interpose/plugin/world_groups.hpp"

namespace hocket::interpose {

HandleTable<Communicator>& communicators = *new HandleTable<Communicator>;

namespace {

constexpr int no_keyval = -1;
int keyval = no_keyval;
std::mutex opening;

constinit HandleTable<Communicator>::Node nobody;

int do_not_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

// Freed by the program while persistent requests may still be started on them.
struct Retired {
  std::mutex mutex;
  std::vector<std::unique_ptr<Communicator>> all;
};
Retired& retired = *new Retired;

// Errors are raised on the one communicator that is always there.
void retire(std::unique_ptr<Communicator> c) {
  const std::lock_guard lock(retired.mutex);
  c->handle = MPI_COMM_SELF;
  if (c->persistent_requests != 0) retired.all.push_back(std::move(c));
}

int forget(MPI_Comm handle, int, void*, void*) {
  auto freed = communicators.take(bits_of(handle));
  if (freed) forget_kept(*freed);
  if (freed && freed->persistent_requests != 0) retire(std::move(freed));
  return MPI_SUCCESS;
}

std::vector<engine::Rank> members_of(MPI_Comm handle) {
  MPI_Group group;
  if (host().Comm_group(handle, &group) != MPI_SUCCESS) return {};
  auto ranks = world_ranks(group);
  host().Group_free(&group);
  return ranks;
}

void measure(Communicator& c) {
  host().Comm_rank(c.handle, &c.rank);
  host().Comm_size(c.handle, &c.size);
}

// The program uses it, so MPI_Comm_idup has completed.
void finish_remembering(Communicator& c) {
  measure(c);
  if (host().Comm_set_attr(c.handle, keyval, nullptr) != MPI_SUCCESS) throw std::bad_alloc();
  c.usable = true;
}

void open_engine(Communicator& c) {
  if (!c.usable) finish_remembering(c);
  if (c.origin == 0) return;
  if (c.size < 2) {
    c.why_not = "one rank";
    return;
  }
  const auto members = members_of(c.handle);
  if (members.empty()) {
    c.why_not = "members outside of this job";
    return;
  }
  c.engine = engine::Communicator::open(*process.engine, c.origin, members, c.rank, c.why_not);
}

}  // namespace

void open_communicators() {
  if (keyval == no_keyval) host().Comm_create_keyval(do_not_copy, forget, &keyval, nullptr);
}

void release_persistent_of(Communicator& c) {
  const std::lock_guard lock(retired.mutex);
  if (--c.persistent_requests == 0) std::erase_if(retired.all, [&](const auto& r) { return r.get() == &c; });
}

void close_communicators() {
  forget_persistent_requests();
  communicators.clear();
  if (keyval != no_keyval) host().Comm_free_keyval(&keyval);
  keyval = no_keyval;
}

namespace {

bool is_of_interest(MPI_Comm handle) {
  int inter = 0;
  if (handle == null().comm || keyval == no_keyval) return false;
  return host().Comm_test_inter(handle, &inter) == MPI_SUCCESS && !inter;
}

std::unique_ptr<Communicator> entry_of(MPI_Comm handle, Origin origin) {
  auto entry = std::make_unique<Communicator>();
  entry->handle = handle;
  entry->origin = origin;
  return entry;
}

void keep(std::unique_ptr<Communicator> entry) {
  const MPI_Comm handle = entry->handle;
  measure(*entry);
  communicators.insert(bits_of(handle), std::move(entry));
  if (host().Comm_set_attr(handle, keyval, nullptr) == MPI_SUCCESS) return;
  communicators.erase(bits_of(handle));
  throw std::bad_alloc();
}

}  // namespace

void note_meeting(Communicator& c) {
  c.opens_anywhere = true;
  if (process.engine->arena()) process.engine->arena()->sealed();
}

void remember(MPI_Comm handle, Origin origin) {
  if (!is_of_interest(handle)) return;
  auto entry = entry_of(handle, origin);
  if (origin != world_origin) note_meeting(*entry);
  keep(std::move(entry));
}

void remember_left(MPI_Comm handle, std::string why_not) {
  if (!is_of_interest(handle)) return;
  auto entry = entry_of(handle, 0);
  entry->why_not = std::move(why_not);
  keep(std::move(entry));
}

void remember_unfinished(MPI_Comm handle, Origin origin) {
  auto entry = entry_of(handle, origin);
  entry->usable = false;
  communicators.insert(bits_of(handle), std::move(entry));
}

void forget_unfinished(MPI_Comm handle) {
  const Communicator* known = communicators.value_of(bits_of(handle));
  if (known && !known->usable) communicators.erase(bits_of(handle));
}

constinit thread_local HandleTable<Communicator>::Node* last_node __attribute__((tls_model("initial-exec"))) =
    &nobody;

Communicator* look_up_communicator(MPI_Comm handle) {
  auto* node = communicators.find(bits_of(handle));
  if (!node) return nullptr;
  last_node = node;
  return node->value.load(std::memory_order_acquire);
}

namespace {

void explain_why(const Communicator& c) noexcept {
  try {
    explain("a communicator of " + std::to_string(c.size) + " ranks is left to the MPI: " + c.why_not);
  } catch (const std::bad_alloc&) {  // not worth an error
  }
}

}  // namespace

void settle(Communicator& c) {
  const std::lock_guard lock(opening);
  if (c.settled) return;
  try {
    open_engine(c);
  } catch (const std::exception& e) {
    c.failed = c.settled = true;
    c.why_not = e.what();
    return;
  }
  c.settled = true;
  if (!c.engine && c.size > 1) explain_why(c);
}

}  // namespace hocket::interpose
