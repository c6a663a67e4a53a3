#include "tests/compiler/ir/random_graph.h"

#include <limits>

#include "compiler/ir/literal.h"

namespace hone::ir {
namespace {

class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {}

  Expr Function(int nodes, int depth) {
    std::vector<Expr> params;
    for (uint64_t i = 0; i < random_.Below(4); ++i) params.push_back(Variable());
    const size_t outer = visible_.size();
    visible_.insert(visible_.end(), params.begin(), params.end());
    Expr body = Block(nodes, depth);
    visible_.resize(outer);
    return ir::Function(params, body, Attributes());
  }

 private:
  // Names that need quotes, clash or look like numbers.
  Expr Variable() {
    static const char* const kNames[] = {"x",   "data", "x",      "input.1", "0",
                                         "a b", "",     "\"\\\n", "_y"};
    return Var(kNames[random_.Below(9)], RandomType(2));
  }

  Type RandomType(int depth) {
    if (depth > 0 && random_.Below(5) == 0) {
      Type type{.is_tuple = true};
      for (uint64_t i = 0; i < random_.Below(3); ++i) type.fields.push_back(RandomType(depth - 1));
      return type;
    }
    if (depth > 0 && random_.Below(8) == 0) {
      Type type{.is_function = true};
      for (uint64_t i = 0; i < 1 + random_.Below(3); ++i) {
        type.fields.push_back(RandomType(depth - 1));
      }
      return type;
    }
    return Type{.tensor = RandomTensor()};
  }

  TensorType RandomTensor() {
    TensorType type;
    type.dtype = static_cast<DataType>(1 + random_.Below(10));
    for (uint64_t i = 0; i < random_.Below(4); ++i) {
      type.shape.push_back(static_cast<int64_t>(random_.Below(4)));
    }
    return type;
  }

  Expr RandomConstant() {
    const TensorType type = RandomTensor();
    std::vector<uint8_t> bytes(static_cast<size_t>(type.SizeBytes()));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_.Next());
    return ConstantFromBytes(type, bytes.data());
  }

  Attrs Attributes() {
    Attrs attrs;
    for (uint64_t i = 0; i < random_.Below(4); ++i) {
      attrs["attr" + std::to_string(random_.Below(9))] = Attribute();
    }
    return attrs;
  }

  AttrValue Attribute() {
    const auto integer = [&] { return static_cast<int64_t>(random_.Next()); };
    switch (random_.Below(10)) {
      case 0:
        return integer();
      case 1:
        return random_.Uniform() * 1e10;
      case 2:
        return random_.Below(2) == 0;
      case 3:
        return std::string("text \"\\\n\x01 \xc3\xa9");
      case 4:
        return static_cast<DataType>(1 + random_.Below(10));
      case 5:
        return std::vector<int64_t>(random_.Below(3), integer());
      case 6:
        return std::vector<double>(random_.Below(3), -0.0);
      case 7:
        return std::vector<std::string>(random_.Below(3), "s,]");
      case 8:
        return -std::numeric_limits<double>::infinity();
      default:
        return 1e-5;
    }
  }

  Expr Pick() {
    if (visible_.empty() || random_.Below(6) == 0) return RandomConstant();
    // Recent nodes more often, so that graphs grow deep.
    const size_t window =
        random_.Below(3) == 0 ? visible_.size() : std::min<size_t>(4, visible_.size());
    return visible_[visible_.size() - 1 - random_.Below(window)];
  }

  std::vector<Expr> PickSome() {
    std::vector<Expr> some;
    for (uint64_t i = 0; i < random_.Below(4); ++i) some.push_back(Pick());
    return some;
  }

  Expr Node(int depth) {
    switch (random_.Below(depth > 0 ? 9 : 5)) {
      case 0:
        return Tuple(PickSome());
      case 1:
        return TupleGetItem(Pick(), static_cast<int64_t>(random_.Below(12)));
      case 2:
        return CallFunction(GlobalVar(random_.Below(2) == 0 ? "main" : "other"), PickSome(),
                            Attributes());
      case 5:
        return CallFunction(Function(4, depth - 1), PickSome(), Attributes());
      case 6: {
        Expr condition = Pick();
        Expr then = Nested(depth - 1);
        return If(condition, then, Nested(depth - 1));
      }
      case 7: {
        Expr var = Variable();
        Expr value = Pick();
        visible_.push_back(var);
        Expr body = Nested(depth - 1);
        visible_.pop_back();
        return Let(var, value, body);
      }
      default:
        return Call(random_.Below(2) == 0 ? "nn.relu" : "add", PickSome(), Attributes());
    }
  }

  Expr Nested(int depth) {
    const size_t outer = visible_.size();
    Expr block = Block(3, depth);
    visible_.resize(outer);
    return block;
  }

  Expr Block(int nodes, int depth) {
    for (int i = 0; i < nodes; ++i) visible_.push_back(Node(depth));
    return Pick();
  }

  Random& random_;
  std::vector<Expr> visible_;
};

}  // namespace

Module RandomModule(Random& random, int nodes) {
  Module module;
  for (const char* name : {"main", "other"}) {
    module.functions[name] = Generator(random).Function(nodes, 3);
  }
  return module;
}

}  // namespace hone::ir
