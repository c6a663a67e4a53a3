// Tensors made out of few numbers: Range, EyeLike, OneHot.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/onnx/tensor.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

template <typename T>
std::string Series(T start, T delta, int64_t count) {
  // Integers wrap around between their start and their end, which fit.
  using Sum = typename std::conditional_t<std::is_integral_v<T>, std::type_identity<uint64_t>,
                                          std::type_identity<T>>::type;
  std::string bytes(count * sizeof(T), '\0');
  for (int64_t i = 0; i < count; ++i) {
    const T value =
        static_cast<T>(static_cast<Sum>(start) + static_cast<Sum>(i) * static_cast<Sum>(delta));
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

absl::StatusOr<std::string> SeriesAs(DataType dtype, const ir::Expr& start, const ir::Expr& delta,
                                     int64_t count) {
  const auto make = [&]<typename T>(T first) {
    T step;
    std::memcpy(&first, start->data.bytes(), sizeof first);
    std::memcpy(&step, delta->data.bytes(), sizeof step);
    return Series(first, step, count);
  };
  switch (dtype) {
    case DataType::kFloat32:
      return make(float{});
    case DataType::kFloat64:
      return make(double{});
    case DataType::kInt16:
      return make(int16_t{});
    case DataType::kInt32:
      return make(int32_t{});
    case DataType::kInt64:
      return make(int64_t{});
    default:
      return absl::UnimplementedError(fmt::format("Hone has no range of {}", Name(dtype)));
  }
}

// How many numbers a range has: max(ceil((limit - start) / delta), 0), nullopt where it has no end.
std::optional<int64_t> CountOf(const std::vector<double>& start_limit_delta) {
  const auto& r = start_limit_delta;
  const double length = std::ceil((r[1] - r[0]) / r[2]);
  constexpr double kLongest = 1e15;
  if (std::isnan(length) || length > kLongest) return std::nullopt;
  return length > 0 ? static_cast<int64_t>(length) : 0;
}

std::optional<int64_t> CountOf(const std::vector<int64_t>& start_limit_delta) {
  const auto& r = start_limit_delta;
  const bool rises = r[2] > 0;
  const bool is_empty = rises ? r[1] <= r[0] : r[1] >= r[0];
  if (r[2] == 0) return std::nullopt;
  if (is_empty) return 0;
  // Distances between two integers of 64 bits have 64 bits without a sign.
  const auto bits = [](int64_t value) { return static_cast<uint64_t>(value); };
  const uint64_t distance = rises ? bits(r[1]) - bits(r[0]) : bits(r[0]) - bits(r[1]);
  const uint64_t step = rises ? bits(r[2]) : 0 - bits(r[2]);
  const uint64_t count = (distance - 1) / step + 1;
  constexpr uint64_t kLongest = 1'000'000'000'000'000;
  return count <= kLongest ? std::optional(static_cast<int64_t>(count)) : std::nullopt;
}

// All three must be known, for they decide the shape.
Results Range(NodeReader& node) {
  ir::Expr operands[3];
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  const char* const names[] = {"start", "limit", "delta"};
  for (size_t i = 0; i < 3; ++i) {
    HONE_ASSIGN_OR_RETURN(operands[i], node.Arg(i, names[i]));
    HONE_ASSIGN_OR_RETURN(const auto values, ConstantNumbers(operands[i], names[i]));
    if (values.size() != 1 || DtypeOf(operands[i]) != DtypeOf(operands[0])) {
      return absl::InvalidArgumentError("three numbers of one type were expected");
    }
    numbers.push_back(values[0]);
    if (IsFloat(DtypeOf(operands[0]))) continue;
    HONE_ASSIGN_OR_RETURN(const auto exact, ConstantIntegers(operands[i], names[i]));
    integers.push_back(exact[0]);
  }
  const std::optional<int64_t> count = integers.empty() ? CountOf(numbers) : CountOf(integers);
  if (!count) {
    return absl::InvalidArgumentError(
        fmt::format("a range from {} to {} by {} has no end", numbers[0], numbers[1], numbers[2]));
  }
  const DataType dtype = DtypeOf(operands[0]);
  HONE_ASSIGN_OR_RETURN(const int64_t size, TensorBytes({*count}, dtype));
  HONE_RETURN_IF_ERROR(node.Generate(size));
  // Since opset 27, 16-bit floats are counted in float32.
  HONE_ASSIGN_OR_RETURN(const int64_t stash, node.Int("stash_type", 1));
  if (dtype == DataType::kFloat16 || dtype == DataType::kBFloat16) {
    if (stash != 1) {
      return absl::UnimplementedError(
          fmt::format("Hone counts with stash_type 1 (float32), found {}", stash));
    }
    HONE_ASSIGN_OR_RETURN(const ir::Expr start, CastConstant(operands[0], DataType::kFloat32));
    HONE_ASSIGN_OR_RETURN(const ir::Expr delta, CastConstant(operands[2], DataType::kFloat32));
    HONE_ASSIGN_OR_RETURN(std::string wide, SeriesAs(DataType::kFloat32, start, delta, *count));
    return One(CastedTo(MakeConstant({*count}, DataType::kFloat32, std::move(wide)), dtype));
  }
  HONE_ASSIGN_OR_RETURN(std::string bytes, SeriesAs(dtype, operands[0], operands[2], *count));
  return std::vector<ir::Expr>{MakeConstant({*count}, dtype, std::move(bytes))};
}

Results EyeLike(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const int64_t k, node.Int("k", 0));
  DataType dtype = DtypeOf(data);
  if (node.HasAttr("dtype")) {
    HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("dtype", 0));
    HONE_ASSIGN_OR_RETURN(dtype, FromOnnxType(static_cast<int>(given)));
  }
  if (RankOf(data) != 2) {
    return absl::InvalidArgumentError(
        fmt::format("a matrix was expected, found {}", data->type->ToString()));
  }
  const Shape& shape = ShapeOf(data);
  HONE_ASSIGN_OR_RETURN(const int64_t size, TensorBytes(shape, dtype));
  HONE_RETURN_IF_ERROR(node.Generate(size));
  const ir::Expr one = ScalarConstant(1, dtype);
  std::string bytes(size, '\0');
  const int64_t element = SizeBytes(dtype);
  const int64_t first = k < 0 ? (k < -shape[0] ? shape[0] : -k) : 0;
  for (int64_t row = first; row < shape[0] && k < shape[1] - row; ++row) {
    std::memcpy(bytes.data() + (row * shape[1] + row + k) * element, one->data.bytes(), element);
  }
  return std::vector<ir::Expr>{MakeConstant(shape, dtype, std::move(bytes))};
}

Results OneHot(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr given, node.Arg(0, "indices"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr depth, node.Arg(1, "depth"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr values, node.Arg(2, "values"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Int("axis", -1));
  HONE_ASSIGN_OR_RETURN(const auto depths, ConstantNumbers(depth, "depth"));
  constexpr double kDeepest = 1e12;
  if (depths.size() != 1 || !(depths[0] >= 0) || depths[0] > kDeepest) {
    return absl::InvalidArgumentError("depth was expected to be one number of at least 0");
  }
  ir::Expr indices = given;
  if (!IsInteger(DtypeOf(given))) {
    HONE_ASSIGN_OR_RETURN(indices, CastedTo(given, DataType::kInt64));
  }
  return One(Emit("one_hot", {indices, values},
                  {{"depth", static_cast<int64_t>(depths[0])}, {"axis", axis}}));
}

}  // namespace

void AddGenerateConverters(ConverterTable& table) {
  table["Range"] = Range;
  table["EyeLike"] = EyeLike;
  table["OneHot"] = OneHot;
}

}  // namespace hone::frontend
