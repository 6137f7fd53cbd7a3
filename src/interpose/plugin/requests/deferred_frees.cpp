#include "interpose/plugin/requests/deferred_frees.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "interpose/plugin/handles/construction.hpp"
#include "interpose/plugin/handles/operations.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/install.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {
namespace {

template <class Handle>
struct Freed {
  Handle handle;
  std::uint64_t after;  ///< the youngest request that may use it
};

/// Handles of one sort.
template <class Handle>
struct Handles {
  std::vector<Freed<Handle>> freed;
  std::unordered_map<HandleBits, std::uint32_t> users;  ///< persistent requests

  bool has_user(Handle handle) const { return users.contains(bits_of(handle)); }
  bool may_free(const Freed<Handle>& f, std::uint64_t ended) const {
    return f.after <= ended && !has_user(f.handle);
  }
  bool may_free_any() const {
    return std::ranges::any_of(freed, [&](const auto& f) { return !has_user(f.handle); });
  }
};

// Never destroyed, as all tables that calls of MPI use.
struct Deferred {
  std::mutex mutex;
  Handles<MPI_Datatype> types;
  Handles<MPI_Op> operations;
};
Deferred& deferred = *new Deferred;
std::atomic<std::uint32_t> persistent_users{0};
std::atomic<bool> any_deferred{false};  // that waits for no persistent request

void look_for_deferred() {
  any_deferred = deferred.types.may_free_any() || deferred.operations.may_free_any();
}

template <class Handle>
void defer(Handles<Handle>& handles, Handle& handle, Handle null) {
  const std::lock_guard lock(deferred.mutex);
  handles.freed.push_back({handle, started_count()});
  look_for_deferred();
  handle = null;
}

/// One that may go now, off the list. Outside the lock its callbacks may free others.
template <class Handle>
bool take_unused(Handles<Handle>& handles, std::uint64_t ended, Handle& handle) {
  const std::lock_guard lock(deferred.mutex);
  const auto unused =
      std::ranges::find_if(handles.freed, [&](const auto& f) { return handles.may_free(f, ended); });
  if (unused == handles.freed.end()) return false;
  handle = unused->handle;
  handles.freed.erase(unused);
  look_for_deferred();
  return true;
}

template <class Handle>
bool may_be_in_use(const Handles<Handle>& handles, Handle handle) {
  if (is_anything_under_way()) return true;
  if (persistent_users.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(deferred.mutex);
  return handles.has_user(handle);
}

template <class Handle>
void add_user(Handles<Handle>& handles, HandleBits handle) {
  if (!handle) return;
  ++handles.users[handle];
  ++persistent_users;
}

template <class Handle>
void remove_user(Handles<Handle>& handles, HandleBits handle) noexcept {
  const auto found = handles.users.find(handle);
  if (found == handles.users.end()) return;
  if (--found->second == 0) handles.users.erase(found);
  --persistent_users;
}

// What is not the program's own is the MPI's to refuse.
bool is_own(MPI_Datatype type) {
  if (type == null().type) return false;
  const auto combiner = combiner_of(type);
  return combiner && !is_predefined(*combiner);
}

int type_free(MPI_Datatype* type) try {
  if (!type || !may_be_in_use(deferred.types, *type) || !is_own(*type)) return host().Type_free(type);
  defer(deferred.types, *type, null().type);
  return MPI_SUCCESS;
} catch (const std::bad_alloc&) {
  return host().Type_free(type);
}

int op_free(MPI_Op* op) try {
  if (!op || !may_be_in_use(deferred.operations, *op) || operation_of(*op).kind != OperationClass::user)
    return host().Op_free(op);
  defer(deferred.operations, *op, MPI_OP_NULL);
  return MPI_SUCCESS;
} catch (const std::bad_alloc&) {
  return host().Op_free(op);
}

}  // namespace

void free_unused(std::uint64_t ended) noexcept {
  if (!any_deferred.load(std::memory_order_relaxed)) [[likely]]
    return;
  MPI_Datatype type;
  while (take_unused(deferred.types, ended, type)) host().Type_free(&type);
  MPI_Op op;
  while (take_unused(deferred.operations, ended, op)) host().Op_free(&op);
}

void add_user_of(const UsedHandles& handles) {
  const std::lock_guard lock(deferred.mutex);
  for (const HandleBits type : handles.types) add_user(deferred.types, type);
  add_user(deferred.operations, handles.operation);
}

void remove_user_of(const UsedHandles& handles) noexcept {
  const std::lock_guard lock(deferred.mutex);
  for (const HandleBits type : handles.types) remove_user(deferred.types, type);
  remove_user(deferred.operations, handles.operation);
  look_for_deferred();
}

void install_frees(void** own) {
  install(own, HOCKET_CALL_Type_free, &type_free);
  install(own, HOCKET_CALL_Op_free, &op_free);
}

}  // namespace hocket::interpose
