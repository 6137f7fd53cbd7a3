// Reads and writes memory of ranks on the other side of the link, for a worker that waits for it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "transports/transport.hpp"
#include "worker/remote/link.hpp"

namespace hocket::worker::remote {

class MemoryClient {
 public:
  /// `beat` is called while something is waited for.
  MemoryClient(Link& link, std::function<void()> beat) : link_(link), beat_(std::move(beat)) {}

  // 0, or the errno; EPIPE: the link is broken.
  int read(std::uint32_t desk, std::uint64_t address, transports::Piece target) noexcept;
  int write(std::uint32_t desk, std::uint64_t address, transports::Piece source) noexcept;

  /// As the link's, without the answers that are waited for here. Null: none.
  const Frame* next();

 private:
  /// A piece on its way.
  struct Request {
    std::uint32_t number = 0;
    transports::Piece piece;
    std::optional<Link::Ticket> data;  ///< of what does not go in frames
    std::optional<int> answer;         ///< the host's errno
    bool is_read = false;
  };
  using Requests = std::vector<Request>;

  int move(FrameKind kind, std::uint32_t desk, std::uint64_t address, transports::Piece memory) noexcept;
  void ask(FrameKind kind, std::uint32_t desk, std::uint64_t address, transports::Piece piece);
  void note_answer(const Frame& frame) noexcept;
  void keep(const Frame& frame);
  bool hear();
  bool has_ended(Request& request) noexcept;
  int collect_ended() noexcept;
  int give_up() noexcept;

  Link& link_;
  const std::function<void()> beat_;
  Requests requests_;
  std::deque<std::vector<std::byte>> kept_;  ///< frames that came while something was waited for
  std::optional<Frame> current_;
};

}  // namespace hocket::worker::remote
