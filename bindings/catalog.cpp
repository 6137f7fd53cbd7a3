// Rows of the catalog as dicts, and requests from names.
#include "algorithms/catalog.hpp"

#include "base/error.hpp"
#include "values.hpp"

namespace hocket::bindings {

namespace {

const char* name_of(algorithms::Order order) {
  return order == algorithms::Order::any ? "any" : "ranked";
}

const char* name_of(algorithms::Access access) {
  constexpr const char* names[] = {"none", "one_sided", "two_sided", "in_network"};
  return names[static_cast<int>(access)];
}

const char* name_of(algorithms::Blocks blocks) {
  constexpr const char* names[] = {"any", "known", "equal"};
  return names[static_cast<int>(blocks)];
}

nb::dict parameter_to_dict(const algorithms::Parameter& parameter) {
  nb::dict d;
  d["name"] = parameter.name;
  d["preset"] = parameter.preset;
  d["least"] = parameter.least;
  d["most"] = parameter.most;
  return d;
}

nb::dict row_to_dict(const algorithms::Algorithm& row) {
  nb::dict d;
  d["collective"] = ir::name_of(row.collective);
  d["name"] = row.name;
  d["access"] = name_of(row.access);
  d["order"] = name_of(row.order);
  d["blocks"] = name_of(row.blocks);
  d["in_place"] = row.in_place;
  d["summary"] = row.summary;
  d["source"] = row.source;
  nb::list parameters;
  for (const auto& parameter : row.parameters) parameters.append(parameter_to_dict(parameter));
  d["parameters"] = parameters;
  return d;
}

nb::list catalog_rows() {
  nb::list rows;
  for (const auto& row : algorithms::catalog()) rows.append(row_to_dict(row));
  return rows;
}

ir::Parameters parameters_from(const algorithms::Algorithm& algorithm, const nb::dict& given) {
  ir::Parameters values = algorithms::presets(algorithm);
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    const nb::str name(algorithm.parameters[i].name.data(), algorithm.parameters[i].name.size());
    if (given.contains(name)) values[i] = nb::cast<int>(given[name]);
  }
  return values;
}

}  // namespace

ir::Collective collective_from(const std::string& name) {
  const auto found = ir::collective_named(name);
  if (!found) throw Error("no collective named " + name);
  return *found;
}

Named named(const std::string& collective, const std::string& algorithm, int ranks, int root,
            const nb::dict& parameters, bool commutative) {
  const auto* row = algorithms::find(collective_from(collective), algorithm);
  if (!row) throw Error("no algorithm for " + collective + " named " + algorithm);
  if (ranks < 1 || root < 0 || root >= ranks) throw Error("no such root among the ranks");
  ir::Request request{.collective = row->collective, .ranks = ranks, .rank = 0, .root = root};
  request.commutative = commutative;
  request.parameters = parameters_from(*row, parameters);
  return {*row, request};
}

nb::dict parameters_to_dict(const algorithms::Algorithm& algorithm, const ir::Parameters& values) {
  nb::dict d;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    d[nb::str(algorithm.parameters[i].name.data(), algorithm.parameters[i].name.size())] = values[i];
  return d;
}

void bind_catalog(nb::module_& m) {
  m.def("catalog", catalog_rows, "All algorithms, one dict each.");
  m.def(
      "fits",
      [](const std::string& collective, const std::string& algorithm, int ranks, int root,
         const nb::dict& parameters, bool commutative) {
        const auto n = named(collective, algorithm, ranks, root, parameters, commutative);
        return algorithms::fits(n.algorithm, n.request);
      },
      "Whether the algorithm can do this number of ranks.");
}

}  // namespace hocket::bindings
