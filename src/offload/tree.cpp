#include "offload/tree.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "offload/cached_memory.hpp"

namespace hocket::offload {

namespace {

/// No element is longer.
constexpr std::size_t element_bound = 16;

std::shared_ptr<Context> agreed_context(const std::string& name, const Member& self, OutOfBand& ranks) {
  std::shared_ptr<Context> context;
  std::string words = "SHARP's library: another rank cannot load it";
  try {
    context = std::make_shared<Context>(std::make_unique<const Library>(name));
  } catch (const Error& error) {
    words = error.what();
  }
  const auto least = [](std::span<const int> loaded) { return std::ranges::min(loaded); };
  if (agree(ranks, self, context ? 1 : 0, least).value_or(0) == 0) throw Error(words);
  return context;
}

/// Rank 0's is the job's. Nobody knows those of other jobs: any is as good.
std::uint64_t new_job() noexcept {
  std::uint64_t job = 0;
  return getrandom(&job, sizeof job, 0) == sizeof job ? job : 1;
}

int init(Context& context, const Job& job) noexcept {
  sharp_coll_init_spec spec{};
  spec.job_id = new_job();
  spec.world_rank = job.rank;
  spec.world_size = job.size;
  spec.world_local_rank = job.local_rank;
  spec.enable_thread_support = job.has_threads ? 1 : 0;
  spec.config = context.library->presets();
  spec.config.coll_timeout = job.timeout_seconds;
  // what a group needs it gets when it is made: nothing is to be agreed later
  spec.config.flags |= SHARP_COLL_DISABLE_LAZY_GROUP_RESOURCE_ALLOC;
  if (!job.is_verbose) spec.config.flags |= SHARP_COLL_HIDE_ERRORS;
  spec.oob_colls = out_of_band_functions;
  spec.oob_ctx = &context.world;
  sharp_coll_context* handle = nullptr;
  const int error = context.library->functions().init(&spec, &handle);
  if (error == SHARP_COLL_SUCCESS) context.handle = handle;
  return error;
}

Terms own_terms(Context& context, const Job& job) noexcept {
  const Library& library = *context.library;
  Terms terms;
  sharp_coll_caps caps{};
  terms.error = init(context, job);
  if (terms.error == SHARP_COLL_SUCCESS) terms.error = library.functions().caps_query(context.handle, &caps);
  terms.repertoire = {caps.support_mask.dtypes, caps.support_mask.tag_dtypes, caps.support_mask.reduce_ops};
  terms.has_reduce = library.has(Kind::reduce);
  terms.has_bcast = library.has(Kind::bcast);
  terms.streams = (caps.support_mask.feature_mask & SHARP_FEATURE_SAT) != 0;
  terms.groups = caps.resources.max_groups;
  terms.operations_per_group = caps.resources.osts_per_group;
  terms.bytes_per_operation = caps.resources.user_data_per_ost;
  return terms;
}

Terms of_both(Terms one, const Terms& other) noexcept {
  if (one.error == SHARP_COLL_SUCCESS) one.error = other.error;
  one.repertoire.types &= other.repertoire.types;
  one.repertoire.tag_types &= other.repertoire.tag_types;
  one.repertoire.operations &= other.repertoire.operations;
  one.has_reduce &= other.has_reduce;
  one.has_bcast &= other.has_bcast;
  one.streams &= other.streams;
  one.groups = std::min(one.groups, other.groups);
  one.operations_per_group = std::min(one.operations_per_group, other.operations_per_group);
  one.bytes_per_operation = std::min(one.bytes_per_operation, other.bytes_per_operation);
  return one;
}

Terms of_all(std::span<const Terms> ranks) noexcept {
  Terms agreed = ranks.front();
  for (const Terms& one : ranks.subspan(1)) agreed = of_both(agreed, one);
  return agreed;
}

/// Others need not have one alike: who has no handles has the library copy.
std::unique_ptr<Registrar> registrar_of(Context& context) noexcept {
  try {
    return std::make_unique<CachedMemory>(context);
  } catch (const std::exception&) {  // not worth an error
    return nullptr;
  }
}

bool registers(const Job& job, const std::string& library) {
  if (job.registers != Job::Registers::if_looked_at) return job.registers == Job::Registers::always;
  return library != beside_this_library();
}

}  // namespace

std::unique_ptr<Tree> Tree::open(const std::string& library, const Job& job, OutOfBand& ranks) {
  const Member self{job.rank, job.size};
  const std::shared_ptr<Context> context = agreed_context(library, self, ranks);
  context->longest_part = std::max(job.longest_part / element_bound * element_bound, element_bound);
  const Speaking speaking(context->world, ranks);
  Terms none;
  none.error = SHARP_COLL_EOOB;
  const Terms terms = agree(ranks, self, own_terms(*context, job), of_all).value_or(none);
  if (terms.error != SHARP_COLL_SUCCESS)
    throw Error(library + ": " + context->library->words_of(terms.error));
  if (registers(job, library)) context->registrar = registrar_of(*context);
  return std::unique_ptr<Tree>(new Tree(context, terms));
}

bool Tree::takes(Kind kind, kernels::OpKind op, kernels::ElementType type) const noexcept {
  switch (kind) {
    case Kind::barrier:
      return true;
    case Kind::bcast:  // bytes, in any number of them
      return terms_.has_bcast && terms_.repertoire.has_type(SHARP_DTYPE_INT8);
    case Kind::reduce:
      if (!terms_.has_reduce) return false;
      break;
    case Kind::allreduce:
      break;
  }
  const std::optional<Reduction> reduction = reduction_of(op, type);
  return reduction && terms_.repertoire.has(*reduction);
}

GroupOrReason Tree::make_group(const Member& self, OutOfBand& members) {
  return Group::make(context_, self, members);
}

registration::Counters Tree::registrations() const noexcept {
  return context_->registrar ? context_->registrar->counters() : registration::Counters{};
}

}  // namespace hocket::offload
