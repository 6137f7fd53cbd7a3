// Statistics as text: what an HTTP client is answered, and nothing of sockets.
#pragma once

#include <string>
#include <string_view>

#include "switch/groups/statistics.hpp"

namespace hocket::aggregation {

inline constexpr std::size_t longest_request = 4096;

/// All of the head has come, or more than anybody needs to say.
bool is_whole_request(std::string_view request) noexcept;

/// GET /metrics is Prometheus's text, GET /stats.json is JSON; anything else is told what it is: 404, or 400.
std::string answer_to(std::string_view request, const Statistics& statistics);

}  // namespace hocket::aggregation
