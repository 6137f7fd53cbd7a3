#include "interpose/plugin/requests/deferred_frees.hpp"

#include <atomic>
#include <mutex>
#include <vector>

#include "interpose/plugin/handles/construction.hpp"
#include "interpose/plugin/handles/operations.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/install.hpp"
#include "interpose/plugin/requests/persistent_request.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {
namespace {

template <class Handle>
struct Freed {
  Handle handle;
  std::uint64_t after;  ///< the youngest request that may use it
};

// Never destroyed, as all tables that calls of MPI use.
struct Deferred {
  std::mutex mutex;
  std::vector<Freed<MPI_Datatype>> types;
  std::vector<Freed<MPI_Op>> operations;
};
Deferred& deferred = *new Deferred;
std::atomic<bool> any_deferred{false};

template <class Handle>
void defer(std::vector<Freed<Handle>>& list, Handle& handle, Handle null) {
  const std::lock_guard lock(deferred.mutex);
  list.push_back({handle, started_count()});
  any_deferred = true;
  handle = null;
}

/// One that may go now, off the list. Outside the lock its callbacks may free others.
template <class Handle>
bool take_unused(std::vector<Freed<Handle>>& list, std::uint64_t ended, Handle& handle) {
  const std::lock_guard lock(deferred.mutex);
  if (list.empty() || list.front().after > ended) return false;
  handle = list.front().handle;
  list.erase(list.begin());
  any_deferred = !deferred.types.empty() || !deferred.operations.empty();
  return true;
}

// Persistent ones may be started again at any time.
bool may_be_in_use() {
  return is_anything_under_way() || persistent_users_of_handles.load(std::memory_order_relaxed) != 0;
}

// What is not the program's own is the MPI's to refuse.
bool is_own(MPI_Datatype type) {
  if (type == null().type) return false;
  const auto combiner = combiner_of(type);
  return combiner && !is_predefined(*combiner);
}

int type_free(MPI_Datatype* type) try {
  if (!type || !may_be_in_use() || !is_own(*type)) return host().Type_free(type);
  defer(deferred.types, *type, null().type);
  return MPI_SUCCESS;
} catch (const std::bad_alloc&) {
  return host().Type_free(type);
}

int op_free(MPI_Op* op) try {
  if (!op || !may_be_in_use() || operation_of(*op).kind != OperationClass::user) return host().Op_free(op);
  defer(deferred.operations, *op, MPI_OP_NULL);
  return MPI_SUCCESS;
} catch (const std::bad_alloc&) {
  return host().Op_free(op);
}

}  // namespace

void free_unused(std::uint64_t ended) noexcept {
  if (!any_deferred.load(std::memory_order_relaxed)) [[likely]]
    return;
  if (persistent_users_of_handles.load(std::memory_order_relaxed) != 0) return;
  MPI_Datatype type;
  while (take_unused(deferred.types, ended, type)) host().Type_free(&type);
  MPI_Op op;
  while (take_unused(deferred.operations, ended, op)) host().Op_free(&op);
}

void install_frees(void** own) {
  install(own, HOCKET_CALL_Type_free, &type_free);
  install(own, HOCKET_CALL_Op_free, &op_free);
}

}  // namespace hocket::interpose
