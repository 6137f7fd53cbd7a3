#include "interpose/plugin/communicators.hpp"

#include <mutex>
#include <new>

#include "base/error.hpp"
#include "interpose/plugin/explain.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/world_groups.hpp"

namespace hocket::interpose {

HandleTable<Communicator>& communicators = *new HandleTable<Communicator>;

namespace {

constexpr int no_keyval = -1;
int keyval = no_keyval;
std::mutex opening;

// The node this thread used last. Nodes are never freed, so that comparing the handle is all it takes to
// trust it.
HandleTable<Communicator>::Node nobody;
thread_local HandleTable<Communicator>::Node* last __attribute__((tls_model("initial-exec"))) = &nobody;

int do_not_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int forget(MPI_Comm handle, int, void*, void*) {
  communicators.erase(bits_of(handle));
  return MPI_SUCCESS;
}

std::vector<engine::Rank> members_of(MPI_Comm handle) {
  MPI_Group group;
  if (host().Comm_group(handle, &group) != MPI_SUCCESS) return {};
  auto ranks = world_ranks(group);
  host().Group_free(&group);
  return ranks;
}

void open_engine(Communicator& c) {
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

void close_communicators() {
  communicators.clear();
  if (keyval != no_keyval) host().Comm_free_keyval(&keyval);
  keyval = no_keyval;
}

void remember(MPI_Comm handle, Origin origin) {
  int inter = 0;
  if (handle == null().comm || keyval == no_keyval) return;
  if (host().Comm_test_inter(handle, &inter) != MPI_SUCCESS || inter) return;
  auto entry = std::make_unique<Communicator>();
  entry->handle = handle;
  entry->origin = origin;
  host().Comm_rank(handle, &entry->rank);
  host().Comm_size(handle, &entry->size);
  communicators.insert(bits_of(handle), std::move(entry));
  if (host().Comm_set_attr(handle, keyval, nullptr) == MPI_SUCCESS) return;
  communicators.erase(bits_of(handle));
  throw std::bad_alloc();
}

Communicator* find_communicator(MPI_Comm handle) {
  const HandleBits bits = bits_of(handle);
  if (last->handle.load(std::memory_order_relaxed) != bits) {
    auto* node = communicators.find(bits);
    if (!node) return nullptr;
    last = node;
  }
  return last->value.load(std::memory_order_acquire);
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
