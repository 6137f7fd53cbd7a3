#include "sharp/refusal.hpp"

namespace hocket::sharp {

const char* words_of(int code) noexcept {
  switch (code) {
    case SHARP_COLL_SUCCESS:
      return "Success";
    case SHARP_COLL_ERROR:
      return "Error: an operation or its communicator was given up";
    case SHARP_COLL_ENOT_SUPP:
      return "Not supported";
    case SHARP_COLL_ENOMEM:
      return "No memory";
    case SHARP_COLL_EGROUP_ALLOC:
      return "No group is left in the aggregation tree";
    case SHARP_COLL_ECONN_TREE:
      return "The switch was lost";
    case SHARP_COLL_EGROUP_JOIN:
      return "The group could not be joined";
    case SHARP_COLL_EQUOTA:
      return "The job has all that it may have of the aggregation tree";
    case SHARP_COLL_ESESS_INIT:
      return "No session";
    case SHARP_COLL_EDEV:
      return "No such device";
    case SHARP_COLL_EINVAL:
      return "Invalid argument";
    case SHARP_COLL_EJOB_CREATE:
      return "The aggregation tree is not reached, or does not take the job";
    case SHARP_COLL_ETREE_INFO:
      return "The ranks were told different aggregation trees";
    case SHARP_COLL_ENOTREE:
      return "No aggregation tree: HOCKET_SWITCH does not say where the switch is";
    case SHARP_COLL_EGROUP_ID:
      return "No such group";
    case SHARP_COLL_EOOB:
      return "An out-of-band function failed";
    case SHARP_COLL_EGROUP_MCAST:
      return "No multicast";
    case SHARP_COLL_EGROUP_TRIM:
      return "The group could not be trimmed";
    case SHARP_COLL_ELOCK_FAILED:
      return "Another job has locked the aggregation tree";
    case SHARP_COLL_ELOCK_DENIED:
      return "The aggregation tree does not stream";
    case SHARP_COLL_ENO_RESOURCE:
      return "The aggregation tree has no resources left";
    default:
      return "Unknown error";
  }
}

}  // namespace hocket::sharp
