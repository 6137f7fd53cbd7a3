// Values that cross into Python: plain dicts, lists, strings and numbers, nothing that keeps state.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <string>

#include "algorithms/catalog.hpp"

namespace hocket::bindings {

namespace nb = nanobind;

/// A row of the catalog and a request that fits its shape, from their names. Throws Error for unknown ones.
struct Named {
  const algorithms::Algorithm& algorithm;
  ir::Request request;
};
Named named(const std::string& collective, const std::string& algorithm, int ranks, int root,
            const nb::dict& parameters, bool commutative);

ir::Collective collective_from(const std::string& name);
nb::dict parameters_to_dict(const algorithms::Algorithm& algorithm, const ir::Parameters& values);

void bind_catalog(nb::module_& m);
void bind_recipes(nb::module_& m);
void bind_schedules(nb::module_& m);
void bind_selection(nb::module_& m);
void bind_settings(nb::module_& m);
void bind_simulation(nb::module_& m);
void bind_topology(nb::module_& m);

}  // namespace hocket::bindings
