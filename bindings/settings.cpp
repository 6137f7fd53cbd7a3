// The options table, and the kernels' instruction sets of this machine.
#include "base/options.hpp"
#include "kernels/kernels.hpp"
#include "values.hpp"

namespace hocket::bindings {

namespace {

nb::list option_rows() {
  nb::list rows;
  for (const auto& option : option_table()) {
    nb::dict d;
    d["variable"] = option.variable;
    d["type"] = option.type;
    d["preset"] = option.preset;
    d["help"] = option.help;
    rows.append(d);
  }
  return rows;
}

nb::list isa_names() {
  nb::list names;
  for (const auto name : kernels::available_isas()) names.append(name);
  return names;
}

}  // namespace

void bind_settings(nb::module_& m) {
  m.def("options", option_rows, "The HOCKET_ environment variables.");
  m.def("available_isas", isa_names, "Instruction sets of the kernels, the best one last.");
}

}  // namespace hocket::bindings
