// Trees of machines on their way to Python.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

#include "base/error.hpp"
#include "topology/tree.hpp"

namespace hocket::bindings {

namespace nb = nanobind;

/// Names come from whoever has plugged something in: they need not be UTF-8.
inline nb::object decoded(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

/// Parents before their children; the first has no parent.
inline nb::list vertices_of(const topology::Tree& tree) {
  nb::list vertices;
  for (topology::Tree::Id id = 0; id < tree.size(); ++id) {
    const auto& vertex = tree.at(id);
    const long parent = vertex.parent == topology::Tree::none ? -1 : static_cast<long>(vertex.parent);
    vertices.append(nb::make_tuple(topology::name_of(vertex.kind), decoded(vertex.name), parent));
  }
  return vertices;
}

/// Errors show what they are about, which need not be UTF-8 either.
template <class Step>
auto decoding_errors(Step step) {
  try {
    return step();
  } catch (const Error& problem) {
    PyErr_SetObject(PyExc_RuntimeError, decoded(problem.what()).ptr());
    throw nb::python_error();
  }
}

}  // namespace hocket::bindings
