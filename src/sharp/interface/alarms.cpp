// hocket_sharp.h.
#include "sharp/api/hocket_sharp.h"

#include "sharp/interface/edge.hpp"
#include "sharp/tree.hpp"

using namespace hocket::sharp;

extern "C" int hocket_sharp_alarm(sharp_coll_comm* comm, pollfd* alarm) {
  return at_edge("hocket_sharp_alarm", false, [&] {
    Communicator& communicator = communicator_of(comm);
    if (!alarm) throw Refusal(SHARP_COLL_EINVAL, "no place for the alarm");
    const auto lock = communicator.context().guard();
    *alarm = communicator.tree().alarm();
    return SHARP_COLL_SUCCESS;
  });
}
