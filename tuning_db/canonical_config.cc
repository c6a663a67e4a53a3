#include "tuning_db/canonical_config.h"

#include <nlohmann/json.hpp>

namespace hone::tuning_db {

std::string CanonicalConfig(std::string_view config) {
  // Objects of this type keep their keys sorted.
  const auto json = nlohmann::json::parse(config.begin(), config.end(), nullptr,
                                          /*allow_exceptions=*/false);
  if (!json.is_object()) return std::string(config);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace hone::tuning_db
