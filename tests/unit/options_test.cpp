#include "base/options.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace hocket {
namespace {

/// Sets variables for one test and takes all of Hocket's away after it.
class OptionsTest : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const OptionInfo& option : option_table()) unsetenv(std::string(option.variable).c_str());
    for (const char* other : {"HOCKET_LAUNCHER_PID", "HOCKET_LIBRARY", "HOCKET_WIAT", "HOCKET_", "HOCKETS"})
      unsetenv(other);
  }
  static std::string error_with(const char* variable, const char* value) {
    setenv(variable, value, 1);
    try {
      Options::from_environment();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(OptionsTest, presets_without_environment) {
  const Options options = Options::from_environment();
  EXPECT_TRUE(options.on);
  EXPECT_EQ(options.setup_seconds, 10);
  EXPECT_EQ(options.memory, 0u);
  EXPECT_TRUE(options.check);
  EXPECT_EQ(options.fingerprint(), "");
}

TEST_F(OptionsTest, an_empty_variable_is_none) {
  setenv("HOCKET_MEMORY", "", 1);
  EXPECT_EQ(Options::from_environment().memory, 0u);
}

TEST_F(OptionsTest, bytes_have_suffixes) {
  const std::pair<const char*, std::size_t> cases[] = {
      {"4096", 4096}, {"64K", 65536}, {"64KiB", 65536}, {"1.5m", 1572864}, {"2G", std::size_t{2} << 30},
      {"7B", 7}};
  for (const auto& [text, bytes] : cases) {
    setenv("HOCKET_MEMORY", text, 1);
    EXPECT_EQ(Options::from_environment().memory, bytes) << text;
  }
  for (const char* text : {"x", "-1", "4Q", "4 KB", "1e99", "nan", "inf", "12KX"})
    EXPECT_NE(error_with("HOCKET_MEMORY", text), "no error") << text;
}

TEST_F(OptionsTest, flags_and_seconds) {
  for (const char* text : {"0", "off", "no", "false", "OFF"}) {
    setenv("HOCKET_CHECK", text, 1);
    setenv("HOCKET", text, 1);
    EXPECT_FALSE(Options::from_environment().check) << text;
    EXPECT_FALSE(Options::from_environment().on) << text;
  }
  for (const char* text : {"1", "on", "yes", "true", "On"}) {
    setenv("HOCKET_CHECK", text, 1);
    setenv("HOCKET", text, 1);
    EXPECT_TRUE(Options::from_environment().check) << text;
    EXPECT_TRUE(Options::from_environment().on) << text;
  }
  setenv("HOCKET_STALL_SECONDS", "0.25", 1);
  EXPECT_TRUE(Options::from_environment().check);
  EXPECT_EQ(Options::from_environment().stall_seconds, 0.25);
  EXPECT_EQ(error_with("HOCKET_STALL_SECONDS", "soon"),
            "HOCKET_STALL_SECONDS=soon: expected seconds, such as 10 or 0.5");
}

TEST_F(OptionsTest, a_report_is_switched_or_goes_to_a_file) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "1"}, {"on", "1"}, {"0", ""}, {"off", ""}, {"here.jsonl", "here.jsonl"}};
  for (const auto& [text, report] : cases) {
    setenv("HOCKET_REPORT", text, 1);
    EXPECT_EQ(Options::from_environment().report, report) << text;
  }
}

TEST_F(OptionsTest, a_wrong_value_is_named_with_what_is_allowed) {
  EXPECT_EQ(error_with("HOCKET_WAIT", "loudly"),
            "HOCKET_WAIT=loudly: expected one of auto, spin, yield, sleep");
  unsetenv("HOCKET_WAIT");
  EXPECT_EQ(error_with("HOCKET", "maybe"), "HOCKET=maybe: expected 0, 1, on or off");
  unsetenv("HOCKET");
  EXPECT_EQ(error_with("HOCKET_VERBOSE", "2"), "HOCKET_VERBOSE=2: expected 0, 1, on or off");
}

TEST_F(OptionsTest, an_unknown_variable_is_an_error_with_the_nearest_one) {
  EXPECT_EQ(error_with("HOCKET_WIAT", "spin"), "unknown variable HOCKET_WIAT: did you mean HOCKET_WAIT?");
}

TEST_F(OptionsTest, variables_of_its_own_programs_and_other_names_are_left_alone) {
  setenv("HOCKET_LAUNCHER_PID", "1:2", 1);
  setenv("HOCKET_LIBRARY", "x", 1);
  setenv("HOCKETS", "x", 1);
  EXPECT_NO_THROW(Options::from_environment());
}

TEST_F(OptionsTest, the_fingerprint_holds_what_must_agree_and_differs_from_the_presets) {
  setenv("HOCKET_FORCE", "bcast:flat", 1);
  setenv("HOCKET_MEMORY", "1M", 1);
  setenv("HOCKET_WAIT", "spin", 1);
  setenv("HOCKET_REPORT", "1", 1);
  setenv("HOCKET_CMA", "auto", 1);
  EXPECT_EQ(Options::from_environment().fingerprint(), "HOCKET_FORCE=bcast:flat;HOCKET_MEMORY=1048576");
}

std::string file_with(const char* content) {
  std::string path = testing::TempDir() + "hocket_rules_XXXXXX";
  const int file = mkstemp(path.data());
  EXPECT_EQ(write(file, content, strlen(content)), static_cast<ssize_t>(strlen(content)));
  close(file);
  return path;
}

TEST_F(OptionsTest, rule_files_are_compared_by_content) {
  const std::string files[] = {file_with("a"), file_with("a"), file_with("b")};
  std::string prints[3];
  for (int i = 0; i < 3; ++i) {
    Options options;
    options.rules = files[i];
    prints[i] = options.fingerprint();
    unlink(files[i].c_str());
  }
  EXPECT_EQ(prints[0], prints[1]);
  EXPECT_NE(prints[0], prints[2]);
}

}  // namespace
}  // namespace hocket
