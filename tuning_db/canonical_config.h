// The identity of a config where only its text is known.
#ifndef HONE_TUNING_DB_CANONICAL_CONFIG_H_
#define HONE_TUNING_DB_CANONICAL_CONFIG_H_

#include <string>
#include <string_view>

namespace hone::tuning_db {

// The text that all spellings of a config share: one line of JSON with the knobs by name, as
// schedule::Config::ToText gives it. A text that is no JSON object is its own canonical form.
std::string CanonicalConfig(std::string_view config);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_CANONICAL_CONFIG_H_
