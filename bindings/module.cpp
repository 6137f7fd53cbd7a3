// hocket._core: the catalog, schedules, the verifier and the rules for Python. Values only; nothing here runs
// a collective.
#include "values.hpp"

NB_MODULE(_core, m) {
  hocket::bindings::bind_catalog(m);
  hocket::bindings::bind_recipes(m);
  hocket::bindings::bind_schedules(m);
  hocket::bindings::bind_selection(m);
  hocket::bindings::bind_settings(m);
  hocket::bindings::bind_simulation(m);
  hocket::bindings::bind_topology(m);
}
