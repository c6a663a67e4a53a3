// Products of matrices, dense and sparse.
#include <fmt/format.h>

#include "tests/compiler/codegen/random_workload.h"

namespace hone::codegen {
namespace {

void Dense(Draw& draw) {
  const int64_t m = draw.Once(4) ? 1 : draw.Extent();
  const int64_t n = draw.Extent(), k = draw.Extent();
  const std::string data = draw.Param({m, k});
  const std::string weight = draw.Param({n, k}, "float32", !draw.Once(3));
  DrawEpilogue(draw, draw.Let(fmt::format("nn.dense({}, {})", data, weight)), {m, n}, 1);
}

void DenseGelu(Draw& draw) {
  const int64_t m = draw.Extent(), n = draw.Extent(), k = draw.Extent();
  const std::string product =
      draw.Let(fmt::format("nn.dense({}, {})", draw.Param({m, k}), draw.Const({n, k})));
  const std::string x = draw.Let(fmt::format("add({}, {})", product, draw.Const({n})));
  const std::string scaled = draw.Let(fmt::format("multiply({}, 0.70710678f32)", x));
  const std::string bell = draw.Let(fmt::format("erf({})", scaled));
  const std::string half = draw.Let(fmt::format("multiply({}, 0.5f32)", x));
  const std::string one = draw.Let(fmt::format("add({}, 1f32)", bell));
  draw.Let(fmt::format("multiply({}, {})", half, one));
}

// One row, or a few: at the memory's bandwidth.
void MatrixVector(Draw& draw) {
  const int64_t m = 1 + (draw.Once(4) ? draw.Below(3) : 0);
  const int64_t n = draw.Extent() * (1 + draw.Below(5)), k = draw.Extent() * (1 + draw.Below(5));
  const std::string data = draw.Param({m, k});
  const std::string weight = draw.Param({n, k}, "float32", draw.Once(2));
  DrawEpilogue(draw, draw.Let(fmt::format("nn.dense({}, {})", data, weight)), {m, n}, 1);
}

// A right operand that varies, its terms neighbours.
void FewRows(Draw& draw) {
  const int64_t m = 1 + draw.Below(16), n = draw.Extent();
  const int64_t k = draw.Extent() * (1 + draw.Below(5));
  if (draw.Once(2)) {
    const std::string data = draw.Param({m, k});
    const std::string value = draw.Let(fmt::format("nn.dense({}, {})", data, draw.Param({n, k})));
    return DrawEpilogue(draw, value, {m, n}, 1);
  }
  const int64_t b = 1 + draw.Below(3);
  const bool turned = draw.Once(2);
  std::string data = turned ? draw.Param({b, k, m}) : draw.Param({b, m, k});
  if (turned) data = draw.Let(fmt::format("transpose({}, axes=[0, 2, 1])", data));
  const std::string weight = draw.Param({b, n, k});
  DrawEpilogue(draw, draw.Let(fmt::format("nn.batch_matmul({}, {})", data, weight)), {b, m, n}, 2);
}

// So many terms that the second cache does not keep a panel for the next rows, or reads rows of
// whole vectors in place.
void LongSums(Draw& draw) {
  const int64_t m = 1 + draw.Below(16);
  const int64_t n = draw.Once(2) ? 16 * (1 + draw.Below(6)) : 32 + draw.Extent();
  const int64_t k = 8 * (256 + draw.Below(240)) + (draw.Once(2) ? draw.Below(8) : 0);
  const bool turned = draw.Once(2);
  const std::string left = draw.Param({1, m, k});
  std::string right = turned ? draw.Param({1, k, n}) : draw.Param({1, n, k});
  if (turned) right = draw.Let(fmt::format("transpose({}, axes=[0, 2, 1])", right));
  const std::string value = draw.Let(fmt::format("nn.batch_matmul({}, {})", left, right));
  DrawEpilogue(draw, value, {1, m, n}, 2);
}

// Every operand as it is or transposed; one matrix for all, on either side.
void BatchMatmul(Draw& draw) {
  const int64_t b = draw.Once(3) ? draw.Extent(7) : 1 + draw.Below(3);
  const int64_t m = draw.Extent(), n = draw.Extent(), k = draw.Extent();
  const int64_t shared = draw.Below(6);
  const auto operand = [&](bool one, bool transposed, int64_t rows, bool constant) {
    const int64_t count = one ? 1 : b;
    if (!transposed) return draw.Param({count, rows, k}, "float32", constant);
    const std::string given = draw.Param({count, k, rows}, "float32", constant);
    return draw.Let(fmt::format("transpose({}, axes=[0, 2, 1])", given));
  };
  const std::string left = operand(shared == 0, draw.Once(3), m, false);
  const std::string right = operand(shared == 1, draw.Once(2), n, draw.Once(4));
  const std::string value = draw.Let(fmt::format("nn.batch_matmul({}, {})", left, right));
  if (draw.Once(3)) {
    draw.Let(fmt::format("multiply({}, 0.5f32)", value));
  } else {
    DrawEpilogue(draw, value, {b, m, n}, 2);
  }
}

// Heads of attention: both operands are parts of one matrix.
void Heads(Draw& draw) {
  const int64_t b = 1 + draw.Below(4), m = draw.Extent(), k = draw.Extent(33);
  const std::string given = draw.Param({m, 2 * b * k});
  const auto part = [&](int64_t begin) {
    const std::string slice = draw.Let(fmt::format(
        "strided_slice({}, axes=[1], begin=[{}], end=[{}])", given, begin, begin + b * k));
    const std::string heads =
        draw.Let(fmt::format("reshape({}, newshape=[{}, {}, {}])", slice, m, b, k));
    return draw.Let(fmt::format("transpose({}, axes=[1, 0, 2])", heads));
  };
  const std::string left = part(0), right = part(b * k);
  const std::string value = draw.Let(fmt::format("nn.batch_matmul({}, {})", left, right));
  if (draw.Once(2)) draw.Let(fmt::format("nn.softmax({}, axis=-1)", value));
}

// Scores of one head after the other, scaled and masked or not, and what they weigh.
void Attention(Draw& draw) {
  const int64_t b = 1 + draw.Below(2), h = 1 + draw.Below(3);
  const int64_t m = draw.Extent(), n = draw.Extent(), k = draw.Extent(33), units = draw.Extent(33);
  const auto right = [&](int64_t rows, int64_t terms) {
    if (draw.Once(2)) return draw.Param({b * h, rows, terms});
    std::string given = draw.Param({b * h, terms, rows});
    if (draw.Once(3)) given = draw.Let(fmt::format("add({}, {})", given, draw.Const({rows})));
    return draw.Let(fmt::format("transpose({}, axes=[0, 2, 1])", given));
  };
  const std::string query = draw.Param({b * h, m, k}), keys = right(n, k);
  std::string value = draw.Let(fmt::format("nn.batch_matmul({}, {})", query, keys));
  const bool apart = draw.Once(2);  // batch and heads
  if (apart) value = draw.Let(fmt::format("reshape({}, newshape={})", value, List({b, h, m, n})));
  if (!draw.Once(4)) value = draw.Let(fmt::format("multiply({}, 0.125f32)", value));
  if (!draw.Once(3)) {
    Shape mask = apart ? Shape{b, 1, 1, n} : Shape{1, 1, n};
    if (draw.Once(3)) mask[mask.size() - 2] = m;
    value = draw.Let(fmt::format("add({}, {})", value, draw.Param(mask)));
  }
  value = draw.Let(fmt::format("nn.softmax({}, axis=-1)", value));
  if (apart) value = draw.Let(fmt::format("reshape({}, newshape={})", value, List({b * h, m, n})));
  const std::string values = right(units, n);
  draw.Let(fmt::format("nn.batch_matmul({}, {})", value, values));
}

void SparseDense(Draw& draw) {
  const int64_t nonzeros = draw.Extent() * (1 + draw.Below(4)), rows = draw.Extent();
  const bool constant = draw.Once(2);
  const std::string index = draw.Of({"int32", "int64"});
  const std::string values = draw.Param({nonzeros}, "float32", constant);
  const std::string columns = draw.Param({nonzeros}, index, constant);
  const std::string begins = draw.Param({rows + 1}, index, constant);
  const int64_t width = draw.Extent();
  const std::string data = draw.Param({draw.Extent(), width});
  const std::string value =
      draw.Let(fmt::format("nn.sparse_dense({}, {}, {}, {})", values, columns, begins, data));
  DrawEpilogue(draw, value, {rows, width}, 1);
}

// Weights of 8 or 4 bits with a scale for each block.
void ScaledDense(Draw& draw) {
  const bool words = draw.Once(2), offsets = draw.Once(2);
  const int64_t digits = draw.Once(2) ? 0 : 2 + draw.Below(2);
  const int64_t blocks = 1 + draw.Below(4), block = 8 * (1 + draw.Below(16));
  const int64_t m = draw.Once(2) ? 1 : draw.Extent(20), n = draw.Extent();
  const std::string data = draw.Param({m, blocks * block});
  const std::string weight = words ? draw.Const({n, blocks * block / 8}, "int32")
                                   : draw.Const({n, blocks * block}, digits > 0 ? "uint8" : "int8");
  std::string call =
      fmt::format("nn.scaled_dense({}, {}, {}", data, weight, draw.Const({n, blocks}));
  if (offsets) call += ", " + draw.Const({n, blocks});
  const int64_t centre = offsets ? 0 : -draw.Below(129);
  call += fmt::format(", bits={}, centre={}, digits={})", words ? 4 : 8, centre, digits);
  DrawEpilogue(draw, draw.Let(call), {m, n}, 1);
}

// What follows the products of a cell with memory.
void Gates(Draw& draw) {
  const int64_t n = 1 + draw.Below(3), width = draw.Extent();
  const std::string given = draw.Param({n, 4 * width});
  const auto gate = [&](int64_t i, const char* function) {
    const std::string slice = draw.Let(fmt::format(
        "strided_slice({}, axes=[1], begin=[{}], end=[{}])", given, i * width, (i + 1) * width));
    return draw.Let(fmt::format("{}({})", function, slice));
  };
  const std::string in = gate(0, "sigmoid"), forget = gate(1, "sigmoid"), seen = gate(2, "tanh");
  const std::string out = gate(3, "sigmoid");
  const std::string kept =
      draw.Let(fmt::format("multiply({}, {})", forget, draw.Param({n, width})));
  const std::string added = draw.Let(fmt::format("multiply({}, {})", in, seen));
  const std::string cell = draw.Let(fmt::format("add({}, {})", kept, added));
  const std::string bent = draw.Let(fmt::format("tanh({})", cell));
  const std::string hidden = draw.Let(fmt::format("multiply({}, {})", out, bent));
  if (draw.Once(2)) draw.Let(fmt::format("({}, {})", hidden, cell));
}

// A step of a recurrent net; of one sequence as often as of several.
void Cell(Draw& draw) {
  const int64_t batch = draw.Once(2) ? 1 : draw.Extent(17), units = draw.Extent();
  const char* const op = draw.Of({"nn.lstm_cell", "nn.gru_cell", "nn.gru_gates"});
  const bool lstm = op == std::string("nn.lstm_cell"), gru = op == std::string("nn.gru_cell");
  const int64_t gates = lstm ? 4 : gru ? 3 : 2;
  const int64_t terms = lstm ? draw.Extent() : units;
  std::string call =
      fmt::format("{}({}, {}", op, draw.Param({batch, gates, units}), draw.Param({batch, terms}));
  if (lstm) call += ", " + draw.Param({batch, units});
  call += ", " + draw.Param({gates, units, terms}, "float32", !draw.Once(4));
  if (lstm && draw.Once(3)) call += ", " + draw.Const({3, units});
  if (gru && draw.Once(2)) call += ", " + draw.Const({units});
  draw.Let(call + ")");
}

}  // namespace

std::vector<Family> ProductFamilies() {
  return {{"dense", Dense, ""},
          {"dense_gelu", DenseGelu, ""},
          {"matrix_vector", MatrixVector, ""},
          {"few_rows", FewRows, "dots"},
          {"long_sums", LongSums, "direct"},
          {"batch_matmul", BatchMatmul, ""},
          {"attention_heads", Heads, ""},
          {"attention", Attention, "blocks"},
          {"attention_apart", Attention, "apart"},
          {"sparse_dense", SparseDense, ""},
          {"scaled_dense", ScaledDense, ""},
          {"gates", Gates, ""},
          {"cell", Cell, ""}};
}

}  // namespace hone::codegen
