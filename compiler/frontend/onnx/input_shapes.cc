#include "compiler/frontend/onnx/input_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "compiler/frontend/name_list.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr char kUnnamed[] = "?";

// The number of a symbol and who gave it, as a message has it.
struct GivenExtent {
  int64_t extent = 0;
  std::string by;
};

// A likely number, for a line to copy.
int64_t LikelyExtent(const std::string& symbol) {
  std::string lower;
  for (const char c : symbol) lower += static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
  const auto has = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  if (has("height") || has("width")) return 224;
  return has("seq") || has("len") ? 128 : 1;
}

class Binder {
 public:
  Binder(const OnnxModel& model, const ImportOptions& options) : model_(model), options_(options) {}

  absl::StatusOr<InputShapes> Run() {
    HONE_RETURN_IF_ERROR(CheckDims());
    for (const OnnxInput& input : model_.inputs) HONE_RETURN_IF_ERROR(Take(input));
    for (const OnnxInput& input : model_.left_out) HONE_RETURN_IF_ERROR(Take(input));
    for (const OnnxInput& input : model_.inputs) Fill(input);
    HONE_RETURN_IF_ERROR(CheckAllBound());
    result_.note = Note();
    return std::move(result_);
  }

 private:
  static void AddSymbols(const OnnxInput& input, std::set<std::string>& symbols) {
    for (size_t i = 0; i < input.shape.size(); ++i) {
      if (input.shape[i] < 0 && input.symbols[i] != kUnnamed) symbols.insert(input.symbols[i]);
    }
  }

  absl::Status CheckDims() {
    std::set<std::string> symbols;
    for (const OnnxInput& input : model_.inputs) AddSymbols(input, symbols);
    std::set<std::string> left_out;
    for (const OnnxInput& input : model_.left_out) AddSymbols(input, left_out);
    for (const auto& [name, extent] : options_.dims) {
      if (!symbols.contains(name) && !left_out.contains(name)) {
        return absl::InvalidArgumentError(
            fmt::format("--dim {}={}: the inputs of the model have no extent of that name; {}",
                        ShellWord(name), extent,
                        symbols.empty() ? "none of theirs has one"
                                        : fmt::format("they have {}", fmt::join(symbols, ", "))));
      }
      given_[name].push_back({extent, fmt::format("--dim {}={}", ShellWord(name), extent)});
    }
    return absl::OkStatus();
  }

  // What the options give for the input.
  absl::Status Take(const OnnxInput& input) {
    const auto constant = options_.constants.find(input.name);
    if (constant != options_.constants.end()) return Learn(input, constant->second.shape);
    HONE_ASSIGN_OR_RETURN(result_.shapes[input.name], OwnShape(input));
    return Learn(input, result_.shapes[input.name]);
  }

  // With the numbers that the options give for this input.
  absl::StatusOr<std::vector<int64_t>> OwnShape(const OnnxInput& input) {
    const auto given = options_.shapes.find(input.name);
    if (given != options_.shapes.end()) {
      HONE_RETURN_IF_ERROR(CheckShape(input, given->second));
      known_.insert(input.name);
      return given->second;
    }
    std::vector<int64_t> shape = input.shape;
    const auto value = options_.values.find(input.name);
    if (value == options_.values.end()) {
      if (input.has_shape) known_.insert(input.name);
      return shape;
    }
    const std::vector<int64_t>& of_value = value->second.shape;
    if (input.has_shape && of_value.size() != shape.size()) return shape;
    known_.insert(input.name);
    if (!input.has_shape) return of_value;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) shape[i] = of_value[i];
    }
    return shape;
  }

  // Remembers what numbers the options give to the symbols of this input, by its shape.
  absl::Status Learn(const OnnxInput& input, const std::vector<int64_t>& shape) {
    if (shape.size() != input.shape.size()) return absl::OkStatus();  // an error, or no symbols
    for (size_t i = 0; i < input.shape.size(); ++i) {
      if (input.shape[i] >= 0 || shape[i] < 0 || input.symbols[i] == kUnnamed) continue;
      const std::string by =
          options_.shapes.contains(input.name)
              ? fmt::format("--shape {}={}", ShellWord(input.name), fmt::join(shape, ","))
              : fmt::format("the value of input {} of shape ({})", input.name,
                            fmt::join(shape, ","));
      const auto dim = options_.dims.find(input.symbols[i]);
      if (dim != options_.dims.end() && dim->second != shape[i]) {
        return absl::InvalidArgumentError(fmt::format(
            "one number for the extent {0} was expected, but --dim {4}={1} and {2} give "
            "it two, {1} and {3}",
            input.symbols[i], dim->second, by, shape[i], ShellWord(input.symbols[i])));
      }
      given_[input.symbols[i]].push_back(
          {shape[i], fmt::format("{} in input {}", shape[i], input.name)});
    }
    return absl::OkStatus();
  }

  static bool AreEqual(const std::vector<GivenExtent>& given) {
    return std::all_of(given.begin(), given.end(),
                       [&](const GivenExtent& g) { return g.extent == given[0].extent; });
  }

  void Fill(const OnnxInput& input) {
    const auto shape = result_.shapes.find(input.name);
    if (shape == result_.shapes.end()) return;
    for (size_t i = 0; i < input.shape.size(); ++i) {
      if (shape->second[i] >= 0) continue;
      const auto given = given_.find(input.symbols[i]);
      if (given != given_.end() && AreEqual(given->second)) {
        shape->second[i] = given->second[0].extent;
      }
    }
  }

  std::string Note() const {
    std::vector<std::string> notes;
    for (const auto& [symbol, given] : given_) {
      if (AreEqual(given)) continue;
      std::vector<std::string> places;
      for (const GivenExtent& g : given) places.push_back(g.by);
      notes.push_back(fmt::format("the extent {} is {}", symbol, ShortList(places)));
    }
    return fmt::format("{}", fmt::join(notes, "; "));
  }

  absl::Status CheckAllBound() const {
    std::vector<std::string> inputs;
    std::vector<std::string> flags;
    for (const OnnxInput& input : model_.inputs) {
      const auto shape = result_.shapes.find(input.name);
      if (shape == result_.shapes.end()) continue;
      if (!known_.contains(input.name)) {
        inputs.push_back(fmt::format("\"{}\" has no shape", input.name));
        flags.push_back(fmt::format("--shape {}=...", ShellWord(input.name)));
        continue;
      }
      if (std::find(shape->second.begin(), shape->second.end(), -1) == shape->second.end()) {
        continue;
      }
      inputs.push_back(fmt::format("\"{}\" is {}", input.name, SymbolicShape(input)));
      AddFlags(input, shape->second, flags);
    }
    if (inputs.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("numbers were expected for the symbolic extents of the inputs ({}): give them, "
                    "as in {}",
                    ShortList(inputs, kMostInputs), fmt::join(flags, " ")));
  }

  // What binds the open extents of the input: --dim, or --shape where one has no name.
  static void AddFlags(const OnnxInput& input, const std::vector<int64_t>& shape,
                       std::vector<std::string>& flags) {
    std::vector<std::string> dims;
    std::vector<int64_t> example = shape;
    bool all_named = true;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] >= 0) continue;
      example[i] = LikelyExtent(input.symbols[i]);
      all_named = all_named && input.symbols[i] != kUnnamed;
      dims.push_back(fmt::format("--dim {}={}", ShellWord(input.symbols[i]), example[i]));
    }
    if (!all_named) {
      dims = {fmt::format("--shape {}={}", ShellWord(input.name), fmt::join(example, ","))};
    }
    for (const std::string& flag : dims) {
      if (std::find(flags.begin(), flags.end(), flag) == flags.end()) flags.push_back(flag);
    }
  }

  static constexpr size_t kMostInputs = 8;
  const OnnxModel& model_;
  const ImportOptions& options_;
  InputShapes result_;
  std::set<std::string> known_;  // inputs whose rank is known
  std::map<std::string, std::vector<GivenExtent>> given_;
};

}  // namespace

std::string SymbolicShape(const OnnxInput& input) {
  std::vector<std::string> extents;
  for (size_t i = 0; i < input.shape.size(); ++i) {
    extents.push_back(input.shape[i] < 0 ? input.symbols[i] : fmt::format("{}", input.shape[i]));
  }
  return fmt::format("{}", fmt::join(extents, ","));
}

absl::Status CheckShape(const OnnxInput& input, const std::vector<int64_t>& shape) {
  bool fits = !input.has_shape || shape.size() == input.shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    const bool is_open = !input.has_shape || input.shape[i] < 0;
    fits = shape[i] >= 0 && (is_open || shape[i] == input.shape[i]);
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("--shape {}={}: the model's input has the shape {}",
                                                ShellWord(input.name), fmt::join(shape, ","),
                                                SymbolicShape(input)));
}

absl::StatusOr<InputShapes> ShapesOfInputs(const OnnxModel& model, const ImportOptions& options) {
  return Binder(model, options).Run();
}

}  // namespace hone::frontend
