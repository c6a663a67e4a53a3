// Reductions: ReduceSum and its kin, which are one operator or a few around one; ArgMax, ArgMin,
// CumSum.
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// What is reduced: `attrs` are those of Hone's reductions. `none`: no axis, so that each element is
// reduced by itself, which Hone's operators have no attribute for.
struct Axes {
  ir::Attrs attrs;
  bool none = false;
};
using ReductionBody = ir::Expr (*)(Formula& f, const ir::Expr& x, const Axes& axes);

ir::Expr Square(Formula& f, const ir::Expr& x) { return f.Mul(x, x); }
ir::Expr Log(Formula& f, const ir::Expr& x) { return f.Call("log", {x}); }

// The sum, product or extreme of one element is that element.
ir::Expr Combined(Formula& f, const char* op, const ir::Expr& x, const Axes& axes) {
  return axes.none ? x : f.Call(op, {x}, axes.attrs);
}

template <const char* kOp>
ir::Expr Plain(Formula& f, const ir::Expr& x, const Axes& axes) {
  return Combined(f, kOp, x, axes);
}
constexpr char kSum[] = "sum";
constexpr char kMean[] = "mean";
constexpr char kProd[] = "prod";
constexpr char kMax[] = "max";
constexpr char kMin[] = "min";

ir::Expr L1(Formula& f, const ir::Expr& x, const Axes& axes) {
  return Combined(f, "sum", f.Call("abs", {x}), axes);
}

ir::Expr SumSquare(Formula& f, const ir::Expr& x, const Axes& axes) {
  return Combined(f, "sum", Square(f, x), axes);
}

ir::Expr L2(Formula& f, const ir::Expr& x, const Axes& axes) {
  if (axes.none) return f.Call("abs", {x});  // whose square may overflow
  return f.Call("sqrt", {SumSquare(f, x, axes)});
}

ir::Expr LogSum(Formula& f, const ir::Expr& x, const Axes& axes) {
  return Log(f, Combined(f, "sum", x, axes));
}

// The largest element is taken out first, so that no power overflows.
ir::Expr LogSumExp(Formula& f, const ir::Expr& x, const Axes& axes) {
  if (axes.none) return x;
  ir::Attrs keep = axes.attrs;
  keep["keepdims"] = true;
  ir::Expr max = f.Call("max", {x}, keep);
  max = f.Where(f.Call("isinf", {max}), f.Number(0, x), max);
  const ir::Expr sum = f.Call("sum", {f.Call("exp", {f.Sub(x, max)})}, axes.attrs);
  const ir::Expr result = Log(f, sum);
  return result ? f.Add(result, f.Reshape(max, ShapeOf(result))) : result;
}

// How integers are reduced, which most functions are not defined on.
enum class Integers { kThemselves, kAsDoubles };

struct Reduction {
  const char* name;
  ReductionBody body;
  Integers integers = Integers::kThemselves;
  Integers over_no_axes = Integers::kThemselves;
};

// Axes are an attribute in early opsets and an operand later. None: all, or with
// noop_with_empty_axes none at all: then only what a function does to single elements is done.
Results Reduce(NodeReader& node, const Reduction& reduction) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const int64_t keepdims, node.Int("keepdims", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t noop, node.Int("noop_with_empty_axes", 0));
  HONE_ASSIGN_OR_RETURN(const auto axes, node.IntsAttrOrArg("axes", 1));
  Axes reduced = {{{"keepdims", keepdims != 0}}};
  if (axes && !axes->empty()) {
    reduced.attrs["axis"] = *axes;
  } else {
    reduced.none = noop != 0;
  }
  Formula f;
  const DataType dtype = DtypeOf(data);
  ir::Expr x = data;
  if (dtype == DataType::kBool) {  // of max and min, since opset 20
    x = f.Cast(x, DataType::kUInt8);
  } else if ((reduced.none ? reduction.over_no_axes : reduction.integers) == Integers::kAsDoubles) {
    x = IsFloat(dtype) ? f.Wide(x) : f.Cast(x, DataType::kFloat64);
  }
  return f.Finish({f.Cast(reduction.body(f, x, reduced), dtype)});
}

Results ArgReduce(NodeReader& node, const std::string& op) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Int("axis", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t keepdims, node.Int("keepdims", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t last, node.Int("select_last_index", 0));
  Formula f;
  return f.Finish(
      {f.Call(op, {data},
              {{"axis", axis}, {"keepdims", keepdims != 0}, {"select_last_index", last != 0}})});
}

Results CumSum(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "x"));
  HONE_ASSIGN_OR_RETURN(const std::vector<int64_t> axis, node.ConstantInts(1, "axis"));
  if (axis.size() != 1) return absl::InvalidArgumentError("axis was expected to be one number");
  HONE_ASSIGN_OR_RETURN(const int64_t exclusive, node.Int("exclusive", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t reverse, node.Int("reverse", 0));
  Formula f;
  return f.Finish(
      {f.Call("cumsum", {x},
              {{"axis", axis[0]}, {"exclusive", exclusive != 0}, {"reverse", reverse != 0}})});
}

}  // namespace

void AddReduceConverters(ConverterTable& table) {
  const Reduction reductions[] = {
      {"ReduceL1", L1},
      {"ReduceL2", L2, Integers::kAsDoubles},
      {"ReduceLogSum", LogSum, Integers::kAsDoubles, Integers::kAsDoubles},
      {"ReduceLogSumExp", LogSumExp, Integers::kAsDoubles},
      {"ReduceMax", Plain<kMax>},
      {"ReduceMean", Plain<kMean>},
      {"ReduceMin", Plain<kMin>},
      {"ReduceProd", Plain<kProd>},
      {"ReduceSum", Plain<kSum>},
      {"ReduceSumSquare", SumSquare}};
  for (const Reduction& reduction : reductions) {
    table[reduction.name] = [reduction](NodeReader& node) { return Reduce(node, reduction); };
  }
  table["ArgMax"] = [](NodeReader& node) { return ArgReduce(node, "argmax"); };
  table["ArgMin"] = [](NodeReader& node) { return ArgReduce(node, "argmin"); };
  table["CumSum"] = CumSum;
}

}  // namespace hone::frontend
