// The ranks' memory, for the worker on the other side of the link: the host reads and writes it as a worker
// beside them would. "Done" is said of each write, and of reads that are short or fail.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "worker/rank_process.hpp"
#include "worker/remote/link.hpp"

namespace hocket::worker::remote {

class MemoryServer {
 public:
  explicit MemoryServer(Link& link) : link_(link) {}

  /// `process`: the rank whose it is, that has been asked for; null: it is not there any more. Throws Error
  /// for what no worker asks.
  void read(const Frame& frame, const std::shared_ptr<RankProcess>& process);
  void write(const Frame& frame, const std::shared_ptr<RankProcess>& process);
  /// Of what is on its way; true: something has ended.
  bool turn();

 private:
  /// Long data on their way, from or to the memory itself where it is mapped.
  struct Transfer {
    FrameHead head;
    std::shared_ptr<RankProcess> process;
    RankProcess::Range range;
    std::unique_ptr<std::byte[]> copy;
    std::span<std::byte> data;
    Link::Ticket ticket = 0;
  };

  void wait_for_room();
  Transfer prepared(const FrameHead& head, const std::shared_ptr<RankProcess>& process);
  std::unique_ptr<std::byte[]> take_room();
  bool has_ended(Transfer& transfer);
  void answer(const FrameHead& head, int error, std::span<const std::byte> data = {}) noexcept;

  Link& link_;
  std::vector<Transfer> transfers_;
  std::vector<std::unique_ptr<std::byte[]>> rooms_;  ///< of one piece each, not in use
};

}  // namespace hocket::worker::remote
