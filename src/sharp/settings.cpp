#include "sharp/settings.hpp"

#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/on_off.h"
#include "base/text.hpp"
#include "sharp/number.hpp"
#include "sharp/refusal.hpp"
#include "switch/wire/handshake.hpp"

namespace hocket::sharp {
namespace {

/// A variable, and what is taken where it is not set.
struct Knob {
  const char* variable;
  const char* preset;
};

constexpr Knob place{"HOCKET_SWITCH", ""}, key_file{"HOCKET_SWITCH_KEY", ""},
    fault_words{"HOCKET_SHARP_FAULTS", ""};
constexpr Knob enable_sat{"SHARP_COLL_ENABLE_SAT", "0"}, sat_threshold{"SHARP_COLL_SAT_THRESHOLD", "16384"},
    lock_on_comm_init{"SHARP_COLL_LOCK_ON_COMM_INIT", "0"},
    lock_batch_size{"SHARP_COLL_SAT_LOCK_BATCH_SIZE", "infinity"},
    osts_per_group{"SHARP_COLL_OSTS_PER_GROUP", "0"}, quota_osts{"SHARP_COLL_JOB_QUOTA_OSTS", "0"},
    quota_groups{"SHARP_COLL_JOB_QUOTA_MAX_GROUPS", "0"},
    quota_payload{"SHARP_COLL_JOB_QUOTA_PAYLOAD_PER_OST", "0"}, log_level{"SHARP_COLL_LOG_LEVEL", "0"};
constexpr Knob all[] = {place,         key_file,          fault_words,     enable_sat,
                        sat_threshold, lock_on_comm_init, lock_batch_size, osts_per_group,
                        quota_osts,    quota_groups,      quota_payload,   log_level};

std::string_view value_of(const Knob& knob) noexcept {
  const char* const value = std::getenv(knob.variable);
  return value && *value ? value : knob.preset;
}

[[noreturn]] void refuse(const Knob& knob, std::string_view expected) {
  throw Refusal(
      SHARP_COLL_EINVAL,
      std::string(knob.variable).append("=").append(value_of(knob)).append(": expected ").append(expected));
}

std::uint32_t count_in(const Knob& knob) {
  const std::optional<std::uint32_t> number = number_in(value_of(knob));
  if (!number) refuse(knob, "a number");
  return *number;
}

bool is_on(const Knob& knob) {
  const std::string text(value_of(knob));
  if (!hocket_means_on(text.c_str()) && !hocket_means_off(text.c_str())) refuse(knob, "0 or 1");
  return hocket_means_on(text.c_str());
}

std::uint32_t batch_in(const Knob& knob) {
  const std::string_view text = value_of(knob);
  if (text == "infinity" || text == "inf") return 0;
  const std::uint32_t batch = count_in(knob);
  if (batch == 0) refuse(knob, "infinity, or a number from 1 on");
  return batch;
}

std::uint32_t payload_in(const Knob& knob) {
  const std::uint32_t bytes = count_in(knob);
  if (bytes != 0 && (bytes < 128 || bytes > 1024)) refuse(knob, "0, or a number from 128 to 1024");
  return bytes;
}

std::vector<tcp::Place> read_places() {
  std::vector<tcp::Place> found;
  for (const std::string_view word : words(value_of(place), ", "))
    found.push_back(tcp::place_in(std::string(word)));
  return found;
}

tcp::Key read_key() {
  const std::string file(value_of(key_file));
  return file.empty() ? wire::no_key() : tcp::key_in(file);
}

}  // namespace

Settings Settings::from_environment(int world_rank) {
  Settings settings;
  settings.faults = faults_in(value_of(fault_words), world_rank);
  settings.streams = is_on(enable_sat);
  settings.streaming_from = count_in(sat_threshold);
  settings.locks_at_once = is_on(lock_on_comm_init);
  settings.lock_batch = batch_in(lock_batch_size);
  settings.most_operations = count_in(quota_osts);
  settings.most_groups = count_in(quota_groups);
  settings.operations_per_group = count_in(osts_per_group);
  settings.payload = payload_in(quota_payload);
  try {
    settings.places = read_places();
    settings.key = read_key();
  } catch (const Error& error) {
    throw Refusal(SHARP_COLL_EINVAL, error.what());
  }
  return settings;
}

void print_settings(std::FILE* stream) {
  for (const Knob& knob : all) {
    const std::string_view value = value_of(knob);
    std::fprintf(stream, "%s=%.*s\n", knob.variable, static_cast<int>(value.size()), value.data());
  }
}

}  // namespace hocket::sharp
