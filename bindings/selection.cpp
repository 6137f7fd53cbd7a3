// The rules: what would be chosen, and why.
#include <nanobind/stl/optional.h>

#include "base/error.hpp"
#include "passes/loads.hpp"
#include "recipes.hpp"
#include "tuning/model.hpp"
#include "tuning/parse_recipe.hpp"
#include "tuning/rules.hpp"

namespace hocket::bindings {

namespace {

nb::dict choice_to_dict(const tuning::Choice& choice) {
  nb::dict d;
  const auto* algorithm = choice.recipe.algorithm;
  d["algorithm"] = algorithm ? std::string(algorithm->name) : std::string();
  d["parameters"] = algorithm ? parameters_to_dict(*algorithm, choice.recipe.parameters) : nb::dict();
  d["name"] = std::string(choice.name);
  d["text"] = std::string(choice.text);
  d["reason"] = std::string(choice.reason);
  return d;
}

nb::list rule_texts(const std::string& disable, const std::string& force, const std::string& file) {
  nb::list texts;
  const tuning::Rules rules(disable, force, file);
  for (const auto text : rules.texts()) texts.append(std::string(text));
  return texts;
}

nb::list considered_to_list(const std::vector<tuning::Considered>& all) {
  nb::list list;
  for (const auto& each : all)
    list.append(nb::make_tuple(std::string(each.text), each.fits, nb::cast(each.predicted_us)));
  return list;
}

nb::dict choose(const std::string& collective, int ranks, std::size_t bytes, bool sizes_known,
                bool equal_blocks, bool commutative, bool predefined, bool oversubscribed, bool single_copy,
                bool across_nodes, const std::string& disable, const std::string& force,
                const std::string& rules, const Places& places, const std::string& costs_file) {
  const Near near = near_of(places);
  const tuning::Costs costs = tuning::costs_from(costs_file);
  const tuning::Model model(costs, near.get());
  const tuning::Situation situation{.collective = collective_from(collective),
                                    .ranks = ranks,
                                    .bytes = bytes,
                                    .sizes_known = sizes_known,
                                    .equal_blocks = equal_blocks,
                                    .commutative = commutative,
                                    .predefined = predefined,
                                    .oversubscribed = oversubscribed,
                                    .across_nodes = across_nodes,
                                    .near = near.get(),
                                    .model = &model,
                                    .costs_told = !costs_file.empty(),
                                    .single_copy = single_copy};
  const tuning::Rules table(disable, force, rules);
  nb::dict d = choice_to_dict(table.choose(situation));
  d["considered"] = considered_to_list(table.considered(situation));
  return d;
}

/// A recipe on a machine, and whether it fits there.
class Placed {
 public:
  Placed(const std::string& collective, const std::string& text, const Places& places)
      : recipe_(tuning::parse_recipe(collective_from(collective), text)),
        near_(near_of(places)),
        request_{recipe_.is_native() ? ir::Collective::barrier : recipe_.algorithm->collective,
                 ranks_of(near_)} {}

  bool fits() const {
    return !recipe_.is_native() && passes::misfit(recipe_, request_, near_.get()) == passes::Misfit::none;
  }
  std::optional<tuning::Cost> cost(const tuning::Costs& costs) const {
    return tuning::Model(costs, near_.get()).of(recipe_, request_);
  }
  double busiest(std::size_t boundary) const {
    return passes::busiest(passes::build_all(recipe_, request_, near_.get()), near_.get(), boundary);
  }

 private:
  static ir::Rank ranks_of(const Near& near) {
    if (!near) throw Error("nothing is said of nodes");
    return near->ranks();
  }

  passes::Recipe recipe_;
  Near near_;
  ir::Request request_;
};

nb::object cost(const std::string& collective, const std::string& recipe, const Places& places,
                const std::string& costs_text) {
  const Placed placed(collective, recipe, places);
  const auto found = placed.fits() ? placed.cost(tuning::parse_costs(costs_text, "costs")) : std::nullopt;
  return found ? nb::object(nb::make_tuple(found->startup_us, found->us_per_byte)) : nb::none();
}

std::optional<double> busiest_link(const std::string& collective, const std::string& recipe,
                                   const Places& places, std::size_t boundary) {
  const Placed placed(collective, recipe, places);
  return placed.fits() ? std::optional(placed.busiest(boundary)) : std::nullopt;
}

}  // namespace

void bind_selection(nb::module_& m) {
  m.def(
      "choose", choose, nb::kw_only(), nb::arg("collective"), nb::arg("ranks"), nb::arg("bytes"),
      nb::arg("sizes_known"), nb::arg("equal_blocks"), nb::arg("commutative"), nb::arg("predefined"),
      nb::arg("oversubscribed"), nb::arg("single_copy"), nb::arg("across_nodes"), nb::arg("disable"),
      nb::arg("force"), nb::arg("rules"), nb::arg("places"), nb::arg("costs"),
      "The algorithm (empty: left to the MPI), its parameters, its name, the rule's text, and what the rule "
      "has chosen from: name, whether it fits, predicted us. `places`: levels by name and the group of each "
      "rank, from the inside out; `costs`: a file, or nothing.");
  m.def(
      "cost", cost,
      "Startup in us and us per byte of a recipe on such places by the text of costs; None where the recipe "
      "does not fit, aggregates in the network, or has too many ranks.");
  m.def(
      "busiest_link", busiest_link,
      "Bytes that a recipe sends over the busiest link of a boundary (0: a node's memory, 1: its card, 2: "
      "its switch's uplink, ...), for each byte of the vector or of one block; None where it does not fit.");
  m.def("rules", rule_texts, "All selection rules in order.");
}

}  // namespace hocket::bindings
