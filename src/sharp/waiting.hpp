// How a call waits that has to.
#pragma once

namespace hocket::sharp {

class Context;
struct Request;

/// Rests until a switch has something, or can take something; not longer than so many seconds.
void await_news(Context& context, double seconds);

/// Until it is over; its outcome.
int await(Context& context, const Request& request);

}  // namespace hocket::sharp
