// A command line as a list of options, each bound to the variable that it sets: one place says what there is,
// and the help is made from it. All ranks read the same words, so all come to the same answer without talking
// to each other.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace apps {

// Wrong words of the user: said once, exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Words = std::vector<std::string>;

class CommandLine {
 public:
  CommandLine(std::string name, std::string purpose);

  void flag(const std::string& name, bool& value, const std::string& meaning);
  void number(const std::string& name, int& value, int least, int most, const std::string& meaning);
  void real(const std::string& name, double& value, double least, double most, const std::string& meaning);
  void text(const std::string& name, std::string& value, const std::string& meaning);
  // One of the allowed words, or several with commas between.
  void words(const std::string& name, Words& value, const Words& allowed, const std::string& meaning);
  // What is no option.
  void operands(const std::string& name, Words& value, const std::string& meaning);

  // False: the help is asked for. Throws UsageError.
  bool parse(int argc, char** argv);
  std::string help() const;
  const std::string& name() const { return name_; }

 private:
  struct Option {
    std::string name;
    std::string value_name;  // empty: a flag
    std::string meaning;
    std::function<void(const std::string&)> take;
  };

  const Option& find(std::string_view name) const;

  std::string name_, purpose_;
  std::vector<Option> options_;
  std::string operand_name_, operand_meaning_;
  Words* operands_ = nullptr;
};

}  // namespace apps
