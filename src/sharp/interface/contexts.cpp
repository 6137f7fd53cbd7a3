// sharp_coll.h: contexts and communicators.
#include <memory>

#include "sharp/interface/edge.hpp"

using namespace hocket::sharp;

extern "C" {

const sharp_coll_config sharp_coll_default_config = {
    .ib_dev_list = nullptr, .user_progress_num_polls = 128, .coll_timeout = 0, .flags = 0, .reserved = {}};

int sharp_coll_init(sharp_coll_init_spec* spec, sharp_coll_context** context) {
  const bool is_quiet = spec && (spec->config.flags & SHARP_COLL_HIDE_ERRORS) != 0;
  return at_edge("sharp_coll_init", is_quiet, [&] {
    given(context) = reinterpret_cast<sharp_coll_context*>(std::make_unique<Context>(given(spec)).release());
    return SHARP_COLL_SUCCESS;
  });
}

int sharp_coll_finalize(sharp_coll_context* context) {
  return at_edge("sharp_coll_finalize", false, [&] {
    const std::unique_ptr<Context> ended(&context_of(context));
    return SHARP_COLL_SUCCESS;
  });
}

int sharp_coll_caps_query(sharp_coll_context* context, sharp_coll_caps* caps) {
  return at_edge("sharp_coll_caps_query", false, [&] {
    given(caps) = capabilities(context_of(context).terms());
    return SHARP_COLL_SUCCESS;
  });
}

int sharp_coll_progress(sharp_coll_context* context) {
  return at_edge("sharp_coll_progress", false, [&] {
    Context& progressed = context_of(context);
    const auto lock = progressed.guard();
    progressed.progress();
    return SHARP_COLL_SUCCESS;
  });
}

int sharp_coll_comm_init(sharp_coll_context* context, sharp_coll_comm_init_spec* spec,
                         sharp_coll_comm** comm) {
  return at_edge("sharp_coll_comm_init", context && context_of(context).hides_errors(), [&] {
    given(comm) = reinterpret_cast<sharp_coll_comm*>(&context_of(context).make_communicator(given(spec)));
    return SHARP_COLL_SUCCESS;
  });
}

int sharp_coll_comm_destroy(sharp_coll_comm* comm) {
  return at_edge("sharp_coll_comm_destroy", false, [&] {
    Communicator& communicator = communicator_of(comm);
    Context& context = communicator.context();
    const auto lock = context.guard();
    context.destroy(communicator);
    return SHARP_COLL_SUCCESS;
  });
}

int sharp_coll_dump_stats(sharp_coll_context* context) {
  return at_edge("sharp_coll_dump_stats", false, [&] {
    Context& counted = context_of(context);
    counted.statistics().print(stderr, counted.spec().world_rank);
    return SHARP_COLL_SUCCESS;
  });
}

}  // extern "C"
