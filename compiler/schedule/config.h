// A config: one path through a schedule space, by names and values, never by index.
#ifndef HONE_COMPILER_SCHEDULE_CONFIG_H_
#define HONE_COMPILER_SCHEDULE_CONFIG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::schedule {

using KnobValue = std::variant<int64_t, std::string>;

// Knobs and their values. Two configs with the same knobs and values are the same config, in
// whatever order code set them: entries, text and digest are in the order of the knobs' names. A
// value type.
class Config {
 public:
  void Set(std::string knob, KnobValue value);  // adds, or replaces
  const KnobValue* Find(std::string_view knob) const;
  // The value of a knob that the space guarantees; asserts that it is there and of the type.
  int64_t Int(std::string_view knob) const;
  const std::string& String(std::string_view knob) const;
  bool Has(std::string_view knob) const { return Find(knob) != nullptr; }
  const std::vector<std::pair<std::string, KnobValue>>& entries() const { return entries_; }

  // {"order":"n_m","tile_w":14}: one line of JSON, sorted by the names of the knobs. tuning_db's
  // CanonicalConfig gives the same text.
  std::string ToText() const;
  // kInvalidArgument: `text` is not one JSON object of integers and strings, or names a knob twice.
  static absl::StatusOr<Config> Parse(std::string_view text);
  std::string Digest() const;  // SHA-256 of the text, hex

  bool operator==(const Config&) const = default;

 private:
  std::vector<std::pair<std::string, KnobValue>> entries_;  // by name, each name once
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONFIG_H_
