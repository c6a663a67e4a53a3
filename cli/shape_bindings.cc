#include "cli/shape_bindings.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "cli/exit_code.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "support/status.h"

namespace hone::cli {
namespace {

absl::Status Usage(const std::string& message) {
  return WithExitCode(absl::InvalidArgumentError(message), kUsage);
}

// A number of up to nine digits.
std::optional<int64_t> ParseExtent(const std::string& text) {
  const bool ok = !text.empty() && text.size() < 10 &&
                  text.find_first_not_of("0123456789") == std::string::npos;
  if (!ok) return std::nullopt;
  return std::stoll(text);
}

absl::StatusOr<std::pair<std::string, std::vector<int64_t>>> ParseShape(const std::string& text) {
  const size_t equals = text.find('=');
  std::vector<int64_t> dims;
  bool ok = equals != std::string::npos && equals > 0;
  std::stringstream rest(ok ? text.substr(equals + 1) : "");
  for (std::string dim; ok && std::getline(rest, dim, ',');) {
    const std::optional<int64_t> extent = ParseExtent(dim);
    ok = extent.has_value();
    if (ok) dims.push_back(*extent);
  }
  if (!ok) return Usage(fmt::format("expected --shape name=1,3,224,224, found '{}'", text));
  return std::make_pair(text.substr(0, equals), std::move(dims));
}

// A symbol may hold '=' no more than a number may; the last one parts them.
absl::StatusOr<std::pair<std::string, int64_t>> ParseDim(const std::string& text) {
  const size_t equals = text.rfind('=');
  const bool has_name = equals != std::string::npos && equals > 0;
  const std::optional<int64_t> extent =
      has_name ? ParseExtent(text.substr(equals + 1)) : std::nullopt;
  if (!extent) return Usage(fmt::format("expected --dim name=4, found '{}'", text));
  return std::make_pair(text.substr(0, equals), *extent);
}

// What flags give a name, one value a specialisation or one for all.
template <typename Value>
using Repeated = std::map<std::string, std::vector<Value>>;

template <typename Value>
absl::StatusOr<Repeated<Value>> Collect(
    const std::vector<std::string>& texts,
    absl::StatusOr<std::pair<std::string, Value>> (*parse)(const std::string&)) {
  Repeated<Value> given;
  for (const std::string& text : texts) {
    HONE_ASSIGN_OR_RETURN(auto binding, parse(text));
    given[binding.first].push_back(std::move(binding.second));
  }
  return given;
}

template <typename Value>
size_t MostValues(const Repeated<Value>& given) {
  size_t most = 1;
  for (const auto& [name, values] : given) most = std::max(most, values.size());
  return most;
}

// Each name with its value in specialisation `i`; `flag` is for the message: "--dim for".
template <typename Value>
absl::StatusOr<std::map<std::string, Value>> ValuesAt(const Repeated<Value>& given, size_t i,
                                                      size_t count, const std::string& flag) {
  std::map<std::string, Value> result;
  for (const auto& [name, values] : given) {
    if (values.size() != 1 && values.size() != count) {
      return Usage(
          fmt::format("expected one {} {}, which all specialisations share, or {}, one for "
                      "each, found {}",
                      flag, name, count, values.size()));
    }
    result[name] = values[values.size() == 1 ? 0 : i];
  }
  return result;
}

std::string SpecialisationText(const Specialisation& s) {
  std::vector<std::string> texts;
  if (!s.shapes.empty()) texts.push_back(BindingsText(s.shapes));
  for (const auto& [name, extent] : s.dims) texts.push_back(fmt::format("{}={}", name, extent));
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace

absl::StatusOr<std::vector<Specialisation>> ParseSpecialisations(
    const std::vector<std::string>& shape_texts, const std::vector<std::string>& dim_texts) {
  HONE_ASSIGN_OR_RETURN(const auto shapes, Collect<std::vector<int64_t>>(shape_texts, ParseShape));
  HONE_ASSIGN_OR_RETURN(const auto dims, Collect<int64_t>(dim_texts, ParseDim));
  const size_t count = std::max(MostValues(shapes), MostValues(dims));
  std::vector<Specialisation> specialisations(count);
  for (size_t i = 0; i < count; ++i) {
    HONE_ASSIGN_OR_RETURN(specialisations[i].shapes,
                          ValuesAt(shapes, i, count, "--shape for input"));
    HONE_ASSIGN_OR_RETURN(specialisations[i].dims, ValuesAt(dims, i, count, "--dim for"));
  }
  for (auto it = specialisations.begin(); it != specialisations.end(); ++it) {
    if (std::find(specialisations.begin(), it, *it) == it) continue;
    return Usage(fmt::format("expected specialisations of different shapes, found {} twice",
                             SpecialisationText(*it)));
  }
  return specialisations;
}

absl::StatusOr<Specialisation> ParseOneSpecialisation(const std::vector<std::string>& shapes,
                                                      const std::vector<std::string>& dims,
                                                      const std::string& what) {
  HONE_ASSIGN_OR_RETURN(std::vector<Specialisation> all, ParseSpecialisations(shapes, dims));
  if (all.size() == 1) return std::move(all[0]);
  return Usage(
      fmt::format("expected one --shape an input and one --dim a symbol, as {} takes one "
                  "specialisation, found {}",
                  what, all.size()));
}

std::string BindingsText(const ShapeBindings& shapes) {
  std::vector<std::string> inputs;
  for (const auto& [name, dims] : shapes) {
    inputs.push_back(fmt::format("{}={}", name, fmt::join(dims, ",")));
  }
  return fmt::format("{}", fmt::join(inputs, " "));
}

}  // namespace hone::cli
