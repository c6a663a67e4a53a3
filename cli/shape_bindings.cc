#include "cli/shape_bindings.h"

#include <algorithm>
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

absl::StatusOr<std::pair<std::string, std::vector<int64_t>>> ParseShape(const std::string& text) {
  const size_t equals = text.find('=');
  std::vector<int64_t> dims;
  bool ok = equals != std::string::npos && equals > 0;
  std::stringstream rest(ok ? text.substr(equals + 1) : "");
  for (std::string dim; ok && std::getline(rest, dim, ',');) {
    ok =
        !dim.empty() && dim.size() < 10 && dim.find_first_not_of("0123456789") == std::string::npos;
    if (ok) dims.push_back(std::stoll(dim));
  }
  if (!ok) return Usage(fmt::format("expected --shape name=1,3,224,224, found '{}'", text));
  return std::make_pair(text.substr(0, equals), std::move(dims));
}

}  // namespace

absl::StatusOr<std::vector<ShapeBindings>> ParseShapes(const std::vector<std::string>& texts) {
  std::map<std::string, std::vector<std::vector<int64_t>>> given;
  size_t count = 1;
  for (const std::string& text : texts) {
    HONE_ASSIGN_OR_RETURN(auto shape, ParseShape(text));
    std::vector<std::vector<int64_t>>& of_input = given[shape.first];
    of_input.push_back(std::move(shape.second));
    count = std::max(count, of_input.size());
  }
  std::vector<ShapeBindings> specialisations(count);
  for (const auto& [name, shapes] : given) {
    if (shapes.size() != 1 && shapes.size() != count) {
      return Usage(
          fmt::format("expected one --shape for input {}, which all specialisations share, or {}, "
                      "one for each, found {}",
                      name, count, shapes.size()));
    }
    for (size_t i = 0; i < count; ++i)
      specialisations[i][name] = shapes[shapes.size() == 1 ? 0 : i];
  }
  for (auto it = specialisations.begin(); it != specialisations.end(); ++it) {
    if (std::find(specialisations.begin(), it, *it) == it) continue;
    return Usage(fmt::format("expected specialisations of different shapes, found {} twice",
                             BindingsText(*it)));
  }
  return specialisations;
}

absl::StatusOr<ShapeBindings> ParseOneShape(const std::vector<std::string>& texts,
                                            const std::string& what) {
  HONE_ASSIGN_OR_RETURN(std::vector<ShapeBindings> all, ParseShapes(texts));
  if (all.size() == 1) return std::move(all[0]);
  return Usage(fmt::format(
      "expected one --shape an input, as {} takes one specialisation, found {}", what, all.size()));
}

std::string BindingsText(const ShapeBindings& shapes) {
  std::vector<std::string> inputs;
  for (const auto& [name, dims] : shapes) {
    inputs.push_back(fmt::format("{}={}", name, fmt::join(dims, ",")));
  }
  return fmt::format("{}", fmt::join(inputs, " "));
}

}  // namespace hone::cli
