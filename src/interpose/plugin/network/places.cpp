#include "interpose/plugin/network/places.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/job_identity.hpp"
#include "engine/places.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/explain.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/network/setup_call.hpp"
#include "interpose/plugin/process.hpp"

namespace hocket::interpose {
namespace {

/// One rank of each node: where no launcher tells, or nodes are pretended, every rank.
bool reads_machine() {
  const Options& options = process.engine->options();
  std::string why_not;
  const auto job = engine::identify_job(why_not, process.engine->host().launcher);
  return options.node_size > 0 || !job || job->local_rank == 0;
}

engine::Address own_address() {
  const Options& options = process.engine->options();
  try {
    return engine::address_of(options, process.rank, reads_machine());
  } catch (const std::exception& e) {
    say(std::string("HOCKET_TOPOLOGY: ") + e.what() + "; switches are not known on this node");
    return engine::address_of(options, process.rank, false);
  }
}

bool largest_of(std::uint64_t own, std::uint64_t& largest, MPI_Comm comm) {
  MPI_Request request;
  return host().Iallreduce(&own, &largest, 1, MPI_UINT64_T, MPI_MAX, comm, &request) == MPI_SUCCESS &&
         complete(request, "the other ranks' places");
}

template <class Number>
bool gathered(std::span<const Number> own, MPI_Datatype type, std::vector<Number>& all, MPI_Comm comm) {
  int ranks = 0;
  host().Comm_size(comm, &ranks);
  all.resize(own.size() * static_cast<std::size_t>(ranks));
  const int count = static_cast<int>(own.size());
  MPI_Request request;
  return host().Iallgather(own.data(), count, type, all.data(), count, type, comm, &request) == MPI_SUCCESS &&
         complete(request, "the other ranks' places");
}

void explain_places() {
  const engine::Places& places = *process.engine->places();
  const bool tells_sockets = places.sockets() > places.nodes();
  explain("the job is on " + std::to_string(places.nodes()) + " nodes under " +
          std::to_string(places.leaves()) + " switches" +
          (tells_sockets ? ", and bound to " + std::to_string(places.sockets()) + " sockets" : ""));
}

}  // namespace

bool exchange_places(MPI_Comm comm, bool shared) {
  const engine::Address address = own_address();
  std::uint64_t levels = 0;
  if (!largest_of(address.switches.size(), levels, comm)) return false;
  const std::vector<std::uint64_t> own = engine::names_of(address, levels);
  const std::uint64_t own_socket[] = {address.socket};
  engine::Told told;
  told.levels = levels;
  if (!gathered<std::uint64_t>(own, MPI_UINT64_T, told.names, comm) ||
      !gathered<std::uint32_t>(address.internet, MPI_UINT32_T, told.internet, comm) ||
      !gathered<std::uint64_t>(own_socket, MPI_UINT64_T, told.sockets, comm))
    return false;
  try {
    process.engine->set_places(told, process.rank, shared);
    explain_places();
  } catch (const std::exception& e) {  // on all ranks alike
    explain(std::string("nodes and switches are not followed: ") + e.what());
  }
  return true;
}

}  // namespace hocket::interpose
