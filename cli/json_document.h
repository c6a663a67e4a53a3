// Prints JSON documents, as --json asks for.
#ifndef HONE_CLI_JSON_DOCUMENT_H_
#define HONE_CLI_JSON_DOCUMENT_H_

#include <string>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace hone::cli {

// The document as text. Names and messages come from models and may hold any bytes: bytes that are
// not UTF-8 are replaced.
inline std::string DocumentText(const nlohmann::json& document) {
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

inline void PrintDocument(const nlohmann::json& document) {
  fmt::print("{}\n", DocumentText(document));
}

}  // namespace hone::cli

#endif  // HONE_CLI_JSON_DOCUMENT_H_
