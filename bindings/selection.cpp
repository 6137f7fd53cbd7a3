// The rules: what would be chosen, and why.
#include "tuning/rules.hpp"
#include "values.hpp"

namespace hocket::bindings {

namespace {

nb::dict choice_to_dict(const tuning::Choice& choice) {
  nb::dict d;
  const auto* algorithm = choice.recipe.algorithm;
  d["algorithm"] = algorithm ? std::string(algorithm->name) : std::string();
  d["parameters"] = algorithm ? parameters_to_dict(*algorithm, choice.recipe.parameters) : nb::dict();
  d["reason"] = std::string(choice.reason);
  return d;
}

nb::list rule_texts(const std::string& disable, const std::string& force, const std::string& file) {
  nb::list texts;
  const tuning::Rules rules(disable, force, file);
  for (const auto text : rules.texts()) texts.append(std::string(text));
  return texts;
}

nb::dict choose(const std::string& collective, int ranks, std::size_t bytes, bool sizes_known,
                bool equal_blocks, bool commutative, bool predefined, bool oversubscribed, bool single_copy,
                bool across_nodes, const std::string& disable, const std::string& force,
                const std::string& rules) {
  const tuning::Situation situation{.collective = collective_from(collective),
                                    .ranks = ranks,
                                    .bytes = bytes,
                                    .sizes_known = sizes_known,
                                    .equal_blocks = equal_blocks,
                                    .commutative = commutative,
                                    .predefined = predefined,
                                    .oversubscribed = oversubscribed,
                                    .across_nodes = across_nodes,
                                    .single_copy = single_copy};
  const tuning::Rules table(disable, force, rules);
  return choice_to_dict(table.choose(situation));
}

}  // namespace

void bind_selection(nb::module_& m) {
  m.def("choose", choose, nb::kw_only(), nb::arg("collective"), nb::arg("ranks"), nb::arg("bytes"),
        nb::arg("sizes_known"), nb::arg("equal_blocks"), nb::arg("commutative"), nb::arg("predefined"),
        nb::arg("oversubscribed"), nb::arg("single_copy"), nb::arg("across_nodes"), nb::arg("disable"),
        nb::arg("force"), nb::arg("rules"),
        "The algorithm (empty: left to the MPI), its parameters, and the rule's text.");
  m.def("rules", rule_texts, "All selection rules in order.");
}

}  // namespace hocket::bindings
