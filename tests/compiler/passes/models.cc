#include "tests/compiler/passes/models.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "compiler/ir/parser.h"
#include "compiler/ops/op.h"
#include "compiler/passes/evaluator.h"
#include "compiler/passes/infer_type.h"
#include "compiler/passes/pipeline.h"
#include "compiler/passes/rewriting.h"
#include "tests/paths.h"

namespace hone::passes {
namespace {

using ir::Call;
using ir::Expr;

std::vector<float> Floats(const Expr& constant) {
  std::vector<float> values(static_cast<size_t>(constant->type->tensor.ElementCount()));
  std::memcpy(values.data(), constant->data.bytes(), constant->data.size_bytes());
  return values;
}

// Index of the element of `shape` that broadcasts to element `index` of `result`.
size_t BroadcastIndex(size_t index, const std::vector<int64_t>& result,
                      const std::vector<int64_t>& shape) {
  size_t at = 0;
  size_t stride = 1;
  for (size_t back = 1; back <= result.size(); ++back) {
    const auto extent = static_cast<size_t>(result[result.size() - back]);
    const size_t digit = index % extent;
    index /= extent;
    if (back > shape.size()) continue;
    const auto own = static_cast<size_t>(shape[shape.size() - back]);
    at += (own == 1 ? 0 : digit) * stride;
    stride *= own;
  }
  return at;
}

absl::StatusOr<std::vector<Expr>> Evaluate(const Expr& call) {
  const ir::TensorType& type = call->type->tensor;
  std::vector<std::vector<float>> args;
  for (const Expr& arg : call->args) {
    if (arg->type->tensor.dtype != DataType::kFloat32) return absl::UnimplementedError("dtype");
    args.push_back(Floats(arg));
  }
  std::vector<float> result(static_cast<size_t>(type.ElementCount()));
  for (size_t i = 0; i < result.size(); ++i) {
    const auto at = [&](size_t arg) {
      return args[arg][BroadcastIndex(i, type.shape, call->args[arg]->type->tensor.shape)];
    };
    if (call->name == "add") {
      result[i] = at(0) + at(1);
    } else if (call->name == "multiply") {
      result[i] = at(0) * at(1);
    } else if (call->name == "negative") {
      result[i] = -at(0);
    } else if (call->name == "rsqrt") {
      result[i] = 1 / std::sqrt(at(0));
    } else if (call->name == "reshape") {
      result[i] = args[0][i];
    } else {
      return absl::UnimplementedError(call->name);
    }
  }
  return std::vector<Expr>{ir::ConstantFromBytes(type, result.data())};
}

Expr Conv(const Expr& data, Random& random, int64_t in, int64_t out, int64_t kernel,
          int64_t stride) {
  return Call("nn.conv2d", {data, RandomConstant(random, {out, in, kernel, kernel})},
              {{"strides", std::vector<int64_t>{stride, stride}},
               {"padding", std::vector<int64_t>(4, kernel / 2)}});
}

Expr BatchNorm(const Expr& data, Random& random, int64_t channels) {
  std::vector<Expr> args{data};
  for (int i = 0; i < 3; ++i) args.push_back(RandomConstant(random, {channels}));
  const std::vector<float> variance(static_cast<size_t>(channels), 4.0F);
  args.push_back(ir::ConstantFromBytes({{channels}, DataType::kFloat32}, variance.data()));
  return Call("nn.batch_norm", args, {{"epsilon", 0.0}});
}

}  // namespace

ir::Module Typed(const std::string& text) {
  const auto parsed = ir::ParseModule(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  const auto typed = InferTypes(parsed.value());
  EXPECT_TRUE(typed.ok()) << typed.status();
  return typed.value();
}

Expr RandomConstant(Random& random, std::vector<int64_t> shape) {
  const ir::TensorType type{std::move(shape), DataType::kFloat32};
  std::vector<float> values(static_cast<size_t>(type.ElementCount()));
  for (float& value : values) value = static_cast<float>(random.Below(9)) - 4.0F;
  return ir::ConstantFromBytes(type, values.data());
}

ir::Module ResidualNet(Random& random, int blocks, int64_t channels, int64_t size) {
  const Expr data = ir::TensorVar("data", {1, 3, size, size}, DataType::kFloat32);
  Expr x = Call("nn.relu", {BatchNorm(Conv(data, random, 3, channels, 7, 2), random, channels)});
  x = Call("nn.max_pool2d", {x},
           {{"pool_size", std::vector<int64_t>{3, 3}},
            {"strides", std::vector<int64_t>{2, 2}},
            {"padding", std::vector<int64_t>{1, 1, 1, 1}}});
  int64_t in = channels;
  for (int block = 0; block < blocks; ++block) {
    const bool down = block % 2 == 1;
    const int64_t out = down ? 2 * in : in;
    const int64_t stride = down ? 2 : 1;
    Expr y = Call("nn.relu", {BatchNorm(Conv(x, random, in, out, 3, stride), random, out)});
    y = BatchNorm(Conv(y, random, out, out, 3, 1), random, out);
    const Expr shortcut = down ? BatchNorm(Conv(x, random, in, out, 1, stride), random, out) : x;
    x = Call("nn.relu", {Call("add", {y, shortcut})});
    in = out;
  }
  x = Call("nn.batch_flatten", {Call("nn.global_avg_pool2d", {x})});
  x = Call("nn.bias_add",
           {Call("nn.dense", {x, RandomConstant(random, {10, in})}), RandomConstant(random, {10})});
  return {{{"main", ir::Function({data}, Call("nn.softmax", {x}))}}};
}

ir::Module RandomNet(Random& random, int nodes) {
  constexpr int64_t kChannels = 16;
  const Expr data = ir::TensorVar("data", {1, kChannels, 8, 8}, DataType::kFloat32);
  std::vector<Expr> values{data};
  const auto pick = [&] {
    return values[values.size() - 1 - random.Below(std::min<size_t>(values.size(), 5))];
  };
  for (int i = 0; i < nodes; ++i) {
    Expr x = pick();
    switch (random.Below(9)) {
      case 0:
        x = Conv(x, random, kChannels, kChannels, 3, 1);
        break;
      case 1:
        x = BatchNorm(Conv(x, random, kChannels, kChannels, 1, 1), random, kChannels);
        break;
      case 2:
        x = Call("nn.relu", {x});
        break;
      case 3:
        x = Call("add", {x, pick()});
        break;
      case 4:
        x = Call("multiply", {x, RandomConstant(random, {kChannels, 1, 1})});
        break;
      case 5:
        x = Call("add", {RandomConstant(random, {kChannels, 1, 1}), x});
        break;
      case 6:
        x = Call("nn.max_pool2d", {x},
                 {{"pool_size", std::vector<int64_t>{3, 3}},
                  {"padding", std::vector<int64_t>{1, 1, 1, 1}}});
        break;
      case 7:
        x = Conv(Call("concatenate", {ir::Tuple({x, pick()})}, {{"axis", int64_t{1}}}), random,
                 2 * kChannels, kChannels, 1, 1);
        break;
      default:
        x = Call("multiply", {x, Call("sigmoid", {Call("nn.global_avg_pool2d", {pick()})})});
    }
    values.push_back(x);
  }
  const Expr result =
      random.Below(2) == 0 ? values.back() : ir::Tuple({values.back(), pick(), data});
  return {{{"main", ir::Function({data}, result)}}};
}

std::vector<Expr> InterpretMain(const ir::Module& module, const std::vector<Expr>& inputs) {
  const Evaluator evaluate = DefaultEvaluator();
  const Expr& main = module.functions.at("main");
  const std::vector<Expr> params = ir::Params(*main);
  const Expr result = ir::RewriteOutside(ir::Body(*main), [&](const Expr& node) -> Expr {
    for (size_t i = 0; i < params.size(); ++i) {
      if (node == params[i]) return inputs[i];
    }
    if (node->kind != ir::ExprKind::kCall) return node;
    const auto values = evaluate(node);
    EXPECT_TRUE(values.ok()) << values.status();
    return values->at(0);
  });
  return result->kind == ir::ExprKind::kTuple ? result->args : std::vector{result};
}

std::vector<std::vector<float>> InterpretOnRandom(const ir::Module& module) {
  Random random(7);
  std::vector<Expr> inputs;
  for (const Expr& param : ir::Params(*module.functions.at("main"))) {
    inputs.push_back(RandomConstant(random, param->type->tensor.shape));
  }
  std::vector<std::vector<float>> outputs;
  for (const Expr& output : InterpretMain(module, inputs)) {
    const auto* values = reinterpret_cast<const float*>(output->data.bytes());
    outputs.emplace_back(values, values + output->type->tensor.ElementCount());
  }
  return outputs;
}

Evaluator TestEvaluator() { return Evaluate; }

ir::Module Canonical(const ir::Module& module) {
  const auto result = RunOne(module, TestContext(), "CanonicalizeOps");
  EXPECT_TRUE(result.ok()) << result.status();
  return *result;
}

std::vector<ir::LayoutSignature> TestSignatures(const Expr& function,
                                                const std::vector<bool>& const_params,
                                                const Target& target) {
  const std::string block = std::to_string(target.AsCpu()->VectorLanes()) + "c";
  bool conv = false;
  bool pool = false;
  bool elementwise = true;
  for (const Expr& node : ir::PostOrder(ir::Body(*function))) {
    if (node->kind != ir::ExprKind::kCall) continue;
    conv |= node->name == "nn.conv2d";
    pool |= node->name.find("pool") != std::string::npos;
    elementwise &= ops::FindOp(node->name)->kind <= ops::FuseKind::kBroadcast;
  }
  const auto row_major = [](const ir::Type& type) {
    return Layout::RowMajor(static_cast<int>(type.tensor.shape.size()));
  };
  const auto blocked = [&](const ir::Type& type) {
    return type.tensor.shape.size() == 4 ? *Layout::Parse("NCHW" + block, 4) : row_major(type);
  };
  const std::vector<Expr> params = ir::Params(*function);
  const auto make = [&](auto operand_layout, auto result_layout) {
    ir::LayoutSignature signature;
    for (size_t i = 0; i < params.size(); ++i) {
      if (!const_params[i]) signature.operands.push_back(operand_layout(*params[i]->type));
    }
    signature.results = {result_layout(*function->type)};
    return signature;
  };
  std::vector<ir::LayoutSignature> signatures;
  if (conv || pool || elementwise) signatures.push_back(make(blocked, blocked));
  if (conv || pool) {
    signatures.push_back(make(row_major, blocked));
    signatures.push_back(make(blocked, row_major));
  }
  signatures.push_back(make(row_major, row_major));
  return signatures;
}

PassContext TestContext() {
  return {*Target::Parse("llvm -mcpu=cascadelake"), TestEvaluator(), TestSignatures};
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = HONE_SOURCE_DIR "/tests/compiler/passes/golden/" + name;
  const char* update = std::getenv("HONE_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(golden.str(), text) << path << ": update with HONE_UPDATE_GOLDEN=1";
}

}  // namespace hone::passes
