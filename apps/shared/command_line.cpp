#include "shared/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace apps {
namespace {

template <class Number>
std::string text_of(Number value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

template <class Number>
Number number_of(const std::string& option, const std::string& text, Number least, Number most) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || stop != end || !(value >= least && value <= most))
    throw UsageError(option + " must be a number from " + text_of(least) + " to " + text_of(most) +
                     ", not '" + text + "'");
  return value;
}

std::string joined(const Words& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

Words words_of(const std::string& option, const std::string& text, const Words& allowed) {
  Words found;
  std::istringstream parts(text + ",");
  for (std::string word; std::getline(parts, word, ',');) {
    if (std::ranges::find(allowed, word) == allowed.end())
      throw UsageError(option + " must be of " + joined(allowed, ", ") + ", not '" + word + "'");
    if (std::ranges::find(found, word) == found.end()) found.push_back(word);
  }
  return found;
}

}  // namespace

CommandLine::CommandLine(std::string name, std::string purpose)
    : name_(std::move(name)), purpose_(std::move(purpose)) {}

void CommandLine::flag(const std::string& name, bool& value, const std::string& meaning) {
  options_.push_back({name, "", meaning, [&value](const std::string&) { value = true; }});
}

void CommandLine::number(const std::string& name, int& value, int least, int most,
                         const std::string& meaning) {
  options_.push_back({name, "N", meaning + " (" + text_of(value) + ")",
                      [=, &value](const std::string& text) { value = number_of(name, text, least, most); }});
}

void CommandLine::real(const std::string& name, double& value, double least, double most,
                       const std::string& meaning) {
  options_.push_back({name, "X", meaning + " (" + text_of(value) + ")",
                      [=, &value](const std::string& text) { value = number_of(name, text, least, most); }});
}

void CommandLine::text(const std::string& name, std::string& value, const std::string& meaning) {
  options_.push_back({name, "TEXT", meaning, [&value](const std::string& text) { value = text; }});
}

void CommandLine::words(const std::string& name, Words& value, const Words& allowed,
                        const std::string& meaning) {
  options_.push_back({name, joined(allowed, ","), meaning + " (" + joined(value, ",") + ")",
                      [=, &value](const std::string& text) { value = words_of(name, text, allowed); }});
}

void CommandLine::operands(const std::string& name, Words& value, const std::string& meaning) {
  operand_name_ = name;
  operand_meaning_ = meaning;
  operands_ = &value;
}

const CommandLine::Option& CommandLine::find(std::string_view name) const {
  const auto found = std::ranges::find(options_, name, &Option::name);
  if (found == options_.end())
    throw UsageError("there is no option '" + std::string(name) + "'; --help lists them");
  return *found;
}

bool CommandLine::parse(int argc, char** argv) {
  const Words given(argv + 1, argv + argc);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& word = given[i];
    if (word == "--help" || word == "-h") return false;
    if (!word.starts_with("-")) {
      if (!operands_) throw UsageError("'" + word + "' is no option; --help lists them");
      operands_->push_back(word);
      continue;
    }
    const Option& option = find(word);
    const bool takes_value = !option.value_name.empty();
    if (takes_value && i + 1 == given.size()) throw UsageError(word + " needs a value");
    option.take(takes_value ? given[++i] : "");
  }
  return true;
}

std::string CommandLine::help() const {
  std::string text = name_ + ": " + purpose_ + "\n\nusage: mpirun -n RANKS " + name_ + " [OPTION...]";
  if (operands_) text += " [" + operand_name_ + "...]\n  " + operand_name_ + ": " + operand_meaning_;
  text += "\n";
  for (const Option& option : options_)
    text += "  " + option.name + (option.value_name.empty() ? "" : " " + option.value_name) + ": " +
            option.meaning + "\n";
  return text;
}

}  // namespace apps
