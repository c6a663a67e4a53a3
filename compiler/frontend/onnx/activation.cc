#include "compiler/frontend/onnx/activation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "support/status.h"

namespace hone::frontend {
namespace {

// Which numbers a function takes, and what they are where the model gives none.
struct KnownActivation {
  const char* name;
  bool takes_alpha;
  bool takes_beta;
  double alpha;
  double beta;
};

constexpr KnownActivation kKnown[] = {
    {"relu", false, false, 0, 0},        {"tanh", false, false, 0, 0},
    {"sigmoid", false, false, 0, 0},     {"softsign", false, false, 0, 0},
    {"softplus", false, false, 0, 0},    {"affine", true, true, 1, 0},
    {"leakyrelu", true, false, 0.01, 0}, {"thresholdedrelu", true, false, 1, 0},
    {"scaledtanh", true, true, 1, 1},    {"hardsigmoid", true, true, 0.2, 0.5},
    {"elu", true, false, 1, 0},
};

// A chain of calls that stops at the first error.
class Chain {
 public:
  explicit Chain(const ir::Expr& x) : dtype_(DtypeOf(x)) {}

  ir::Expr Number(double value) const { return ScalarConstant(value, dtype_); }
  ir::Expr Call(const std::string& op, std::vector<ir::Expr> args, ir::Attrs attrs = {}) {
    if (!status_.ok()) return nullptr;
    absl::StatusOr<ir::Expr> e = Emit(op, std::move(args), std::move(attrs));
    if (e.ok()) return *std::move(e);
    status_ = e.status();
    return nullptr;
  }
  absl::StatusOr<ir::Expr> Finish(ir::Expr result) const {
    if (!status_.ok()) return status_;
    return result;
  }

 private:
  DataType dtype_;
  absl::Status status_;
};

std::string LowerCase(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// As NodeReader::Float: the double that a person would have written.
double AsWritten(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

}  // namespace

absl::StatusOr<ir::Expr> Activation::Apply(const ir::Expr& x) const {
  Chain c(x);
  ir::Expr y;
  if (name == "relu") y = c.Call("nn.relu", {x});
  if (name == "tanh") y = c.Call("tanh", {x});
  if (name == "sigmoid") y = c.Call("sigmoid", {x});
  if (name == "leakyrelu") y = c.Call("nn.leaky_relu", {x}, {{"alpha", alpha}});
  if (name == "softsign") {
    y = c.Call("divide", {x, c.Call("add", {c.Call("abs", {x}), c.Number(1)})});
  }
  if (name == "softplus") {
    const ir::Expr decay = c.Call("exp", {c.Call("negative", {c.Call("abs", {x})})});
    y = c.Call("add", {c.Call("nn.relu", {x}), c.Call("log1p", {decay})});
  }
  if (name == "affine" || name == "hardsigmoid") {
    y = c.Call("add", {c.Call("multiply", {x, c.Number(alpha)}), c.Number(beta)});
    if (name == "hardsigmoid") y = c.Call("clip", {y}, {{"a_min", 0.0}, {"a_max", 1.0}});
  }
  if (name == "thresholdedrelu") {
    y = c.Call("where", {c.Call("greater", {x, c.Number(alpha)}), x, c.Number(0)});
  }
  if (name == "scaledtanh") {
    y = c.Call("multiply",
               {c.Call("tanh", {c.Call("multiply", {x, c.Number(beta)})}), c.Number(alpha)});
  }
  if (name == "elu") {
    const ir::Expr below = c.Call("expm1", {x});
    y = c.Call("where",
               {c.Call("less", {x, c.Number(0)}), c.Call("multiply", {below, c.Number(alpha)}), x});
  }
  return c.Finish(y);
}

absl::StatusOr<std::vector<Activation>> ReadActivations(NodeReader& node,
                                                        const std::vector<std::string>& defaults,
                                                        int64_t directions) {
  std::vector<std::string> names;
  for (int64_t d = 0; d < directions; ++d) {
    names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (const OnnxAttr* raw = node.Raw("activations")) {
    const auto* given = std::get_if<std::vector<std::string>>(raw);
    if (given == nullptr || given->size() != names.size()) {
      return absl::InvalidArgumentError(
          fmt::format("{} names of activations were expected", names.size()));
    }
    names = *given;
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<float> alphas, node.Floats("activation_alpha"));
  HONE_ASSIGN_OR_RETURN(const std::vector<float> betas, node.Floats("activation_beta"));
  size_t alpha = 0;
  size_t beta = 0;
  std::vector<Activation> result;
  for (const std::string& name : names) {
    Activation activation;
    activation.name = LowerCase(name);
    const KnownActivation* known =
        std::find_if(std::begin(kKnown), std::end(kKnown),
                     [&](const KnownActivation& k) { return activation.name == k.name; });
    if (known == std::end(kKnown)) {
      return absl::UnimplementedError(fmt::format("Hone does not have the activation {}", name));
    }
    // Each function takes the next of the numbers that it has a use for.
    activation.alpha =
        known->takes_alpha && alpha < alphas.size() ? AsWritten(alphas[alpha++]) : known->alpha;
    activation.beta =
        known->takes_beta && beta < betas.size() ? AsWritten(betas[beta++]) : known->beta;
    result.push_back(std::move(activation));
  }
  return result;
}

}  // namespace hone::frontend
