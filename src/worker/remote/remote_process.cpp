#include "worker/remote/remote_process.hpp"

#include <algorithm>
#include <span>

namespace hocket::worker::remote {

void RemoteProcess::share(const engine::SharedRange& range) {
  link_.send({FrameKind::share, desk_}, std::as_bytes(std::span(&range, 1)));
}

void RemoteProcess::say_why(std::string_view words) noexcept {
  const std::string_view short_enough = words.substr(0, Frame::longest);
  link_.send({FrameKind::words, desk_}, std::as_bytes(std::span(short_enough)));
}

void RemoteProcess::complete(std::uint32_t completion, Status status) noexcept {
  link_.send({FrameKind::completed, desk_, completion, 0, static_cast<std::uint64_t>(status)});
}

}  // namespace hocket::worker::remote
