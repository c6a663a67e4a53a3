#include "compiler/schedule/config.h"

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>

#include "fmt/format.h"
#include "support/digest.h"

namespace hone::schedule {
namespace {

using Entry = std::pair<std::string, KnobValue>;

}  // namespace

void Config::Set(std::string knob, KnobValue value) {
  const auto at = std::ranges::lower_bound(entries_, knob, {}, &Entry::first);
  if (at != entries_.end() && at->first == knob) {
    at->second = std::move(value);
  } else {
    entries_.insert(at, {std::move(knob), std::move(value)});
  }
}

const KnobValue* Config::Find(std::string_view knob) const {
  for (const auto& [name, value] : entries_) {
    if (name == knob) return &value;
  }
  return nullptr;
}

int64_t Config::Int(std::string_view knob) const {
  const KnobValue* value = Find(knob);
  assert(value != nullptr && std::holds_alternative<int64_t>(*value));
  return std::get<int64_t>(*value);
}

const std::string& Config::String(std::string_view knob) const {
  const KnobValue* value = Find(knob);
  assert(value != nullptr && std::holds_alternative<std::string>(*value));
  return std::get<std::string>(*value);
}

std::string Config::ToText() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : entries_) {
    if (const int64_t* number = std::get_if<int64_t>(&value)) {
      json[name] = *number;
    } else {
      json[name] = std::get<std::string>(value);
    }
  }
  return json.dump();
}

absl::StatusOr<Config> Config::Parse(std::string_view text) {
  // A second entry of a name would silently replace the first: the parser's callback sees it.
  std::string repeated;
  std::vector<std::string> keys;
  const auto callback = [&](int depth, nlohmann::ordered_json::parse_event_t event,
                            nlohmann::ordered_json& parsed) {
    if (event == nlohmann::ordered_json::parse_event_t::key && depth == 1) {
      const std::string key = parsed.get<std::string>();
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) repeated = key;
      keys.push_back(key);
    }
    return true;
  };
  const auto json = nlohmann::ordered_json::parse(text.begin(), text.end(), callback,
                                                  /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(
        fmt::format("a config is one JSON object of knobs, found '{}'", text.substr(0, 200)));
  }
  if (!repeated.empty()) {
    return absl::InvalidArgumentError(fmt::format("the config names knob '{}' twice", repeated));
  }
  Config config;
  for (const auto& [name, value] : json.items()) {
    if (value.is_number_integer()) {
      config.Set(name, value.get<int64_t>());
    } else if (value.is_string()) {
      config.Set(name, value.get<std::string>());
    } else {
      return absl::InvalidArgumentError(fmt::format(
          "knob '{}' of the config must be an integer or a string, found {}", name, value.dump()));
    }
  }
  return config;
}

std::string Config::Digest() const { return Sha256Hex(ToText()); }

}  // namespace hone::schedule
