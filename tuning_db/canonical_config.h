// The identity of a config of which only the text is known.
#ifndef HONE_TUNING_DB_CANONICAL_CONFIG_H_
#define HONE_TUNING_DB_CANONICAL_CONFIG_H_

#include <string>
#include <string_view>

namespace hone::tuning_db {

// The one text for all spellings of a config: one line of JSON with the knobs sorted by name, as
// schedule::Config::ToText writes it. A text that is not a JSON object is its own canonical form.
std::string CanonicalConfig(std::string_view config);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_CANONICAL_CONFIG_H_
