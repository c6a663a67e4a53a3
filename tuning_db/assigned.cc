#include "tuning_db/assigned.h"

#include <nlohmann/json.hpp>

namespace hone::tuning_db {

using nlohmann::json;

std::string ToText(const Assigned& assigned) {
  if (assigned.candidates.empty()) return "";
  json candidates = json::array();
  for (const AssignedCandidate& candidate : assigned.candidates) {
    candidates.push_back({candidate.artifact_digest, candidate.toolchain});
  }
  const json text = {{"candidates", candidates},
                     {"regime", assigned.regime},
                     {"rounds", assigned.rounds},
                     {"reference", assigned.reference_digest},
                     {"anchor", assigned.anchor_digest}};
  return text.dump(-1, ' ', false, json::error_handler_t::replace);
}

Assigned ParseAssigned(std::string_view text) {
  if (text.empty()) return {};
  Assigned assigned;
  try {
    const json parsed = json::parse(text);
    for (const json& candidate : parsed.at("candidates")) {
      assigned.candidates.push_back(
          {candidate.at(0).get<std::string>(), candidate.at(1).get<std::string>()});
    }
    parsed.at("regime").get_to(assigned.regime);
    parsed.at("rounds").get_to(assigned.rounds);
    parsed.at("reference").get_to(assigned.reference_digest);
    parsed.at("anchor").get_to(assigned.anchor_digest);
  } catch (const json::exception&) {
    return {};
  }
  return assigned;
}

}  // namespace hone::tuning_db
