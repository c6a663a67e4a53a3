// What is folded is what is compiled: every operator and every cast, of every type, on extreme and
// random values, once one element at a time and once in vectors.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "compiler/loop/interpreter.h"
#include "compiler/loop/scalar.h"
#include "support/random.h"
#include "tests/compiler/codegen/harness.h"

namespace hone::codegen {
namespace {

using loop::BinaryOp;
using loop::Expr;
using loop::UnaryOp;

constexpr DataType kTypes[] = {DataType::kFloat32,  DataType::kFloat64, DataType::kFloat16,
                               DataType::kBFloat16, DataType::kInt8,    DataType::kInt16,
                               DataType::kInt32,    DataType::kInt64,   DataType::kUInt8,
                               DataType::kUInt16,   DataType::kUInt32,  DataType::kUInt64,
                               DataType::kBool};
constexpr int64_t kLanes = 16;
constexpr int64_t kCount = 10 * 1024;  // a multiple of the lanes

bool IsHalf(DataType dtype) { return dtype == DataType::kFloat16 || dtype == DataType::kBFloat16; }

// The bits of an element.
uint64_t Encode(double value, DataType dtype) {
  const double rounded = loop::RoundToFloat(value, dtype);
  switch (dtype) {
    case DataType::kFloat64:
      return std::bit_cast<uint64_t>(value);
    case DataType::kFloat32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case DataType::kFloat16:
      return loop::EncodeFloat16(rounded);
    default:
      return loop::EncodeBFloat16(rounded);
  }
}

double DecodeFloat(uint64_t bits, DataType dtype) {
  switch (dtype) {
    case DataType::kFloat64:
      return std::bit_cast<double>(bits);
    case DataType::kFloat32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case DataType::kFloat16:
      return loop::DecodeFloat16(static_cast<uint16_t>(bits));
    default:
      return loop::DecodeBFloat16(static_cast<uint16_t>(bits));
  }
}

std::vector<uint64_t> ExtremeFloats(DataType dtype) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  std::vector<double> values = {0,
                                kInf,
                                std::numeric_limits<double>::quiet_NaN(),
                                1e-5,
                                0.1,
                                0.5,
                                0.9,
                                1,
                                1.5,
                                2,
                                2.5,
                                3,
                                10,
                                20,
                                87.3,
                                88.8,
                                104,
                                709.7,
                                710,
                                745,
                                65504,
                                1e10,
                                1e30,
                                3.4028234663852886e38,
                                1e45,
                                1e300,
                                std::numeric_limits<double>::max(),
                                1.5707963267948966,
                                3.141592653589793,
                                0x1p40,
                                0x1p41 + 1,
                                255,
                                256};
  for (const int exponent : {-1074, -1022, -149, -133, -126, -54, -25, -24, -14, 7,  8,   15,
                             16,    23,    24,   31,   32,   52,  53,  62,  63,  64, 127, 1000}) {
    const double power = std::ldexp(1.0, exponent);
    values.insert(values.end(), {power, power + 1, power - 1, power * 1.0078125 * 1.5});
  }
  std::vector<uint64_t> bits;
  for (const double value : values) {
    bits.push_back(Encode(value, dtype));
    bits.push_back(Encode(-value, dtype));
  }
  return bits;
}

std::vector<uint64_t> ExtremeInts(DataType dtype) {
  std::vector<int64_t> values = {0, 1, -1, 2, 3, -3, 5, 7, -7, 10, 100};
  for (int power = 2; power < 64; ++power) {
    const int64_t value = static_cast<int64_t>(uint64_t{1} << power);
    values.insert(values.end(), {value, value - 1, -value});
    if (power % 8 == 7) values.insert(values.end(), {value + 1, -value + 1});
  }
  values.push_back(std::numeric_limits<int64_t>::min());
  std::vector<uint64_t> bits;
  for (const int64_t value : values) {
    bits.push_back(static_cast<uint64_t>(loop::WrapToInt(value, dtype)));
  }
  std::sort(bits.begin(), bits.end());
  bits.erase(std::unique(bits.begin(), bits.end()), bits.end());
  return bits;
}

std::vector<uint64_t> Extremes(DataType dtype) {
  return IsFloat(dtype) ? ExtremeFloats(dtype) : ExtremeInts(dtype);
}

uint64_t RandomElement(Random& random, DataType dtype) {
  if (dtype == DataType::kBool) return random.Next() & 1;
  // Half of the floats are of the sizes that functions are asked for.
  const double scales[] = {1, 10, 100, 1e6};
  if (IsFloat(dtype) && random.Next() % 2 == 0) {
    return Encode((random.Uniform() * 2 - 1) * scales[random.Next() % 4], dtype);
  }
  if (!IsFloat(dtype) && random.Next() % 4 == 0) {  // small integers
    const auto value = static_cast<int64_t>(random.Next() % 80) - 16;
    return static_cast<uint64_t>(loop::WrapToInt(value, dtype));
  }
  return random.Next();
}

// Operands of kCount elements: every pair of extremes that there is room for, then random ones.
struct Operands {
  std::vector<uint64_t> x;
  std::vector<uint64_t> y;
};

Operands MakeOperands(DataType dtype) {
  Random random(17);
  Operands operands;
  const std::vector<uint64_t> extremes = Extremes(dtype);
  for (const uint64_t x : extremes) {
    operands.x.push_back(x);
    operands.y.push_back(extremes[random.Next() % extremes.size()]);
  }
  const size_t pairs = extremes.size() * extremes.size();
  const size_t room = kCount / 2;
  for (size_t i = 0; i < std::min(pairs, room); ++i) {
    const size_t pair = pairs <= room ? i : random.Next() % pairs;
    operands.x.push_back(extremes[pair / extremes.size()]);
    operands.y.push_back(extremes[pair % extremes.size()]);
  }
  while (operands.x.size() < kCount) {
    operands.x.push_back(RandomElement(random, dtype));
    operands.y.push_back(random.Next() % 8 == 0 ? extremes[random.Next() % extremes.size()]
                                                : RandomElement(random, dtype));
  }
  return operands;
}

// Memory of one buffer, aligned as modules want it.
class AlignedMemory {
 public:
  AlignedMemory(int64_t bytes)
      : data_(static_cast<char*>(aligned_alloc(64, (bytes + 127) / 64 * 64))) {}
  ~AlignedMemory() { free(data_); }
  AlignedMemory(const AlignedMemory&) = delete;
  AlignedMemory& operator=(const AlignedMemory&) = delete;
  char* data() { return data_; }

 private:
  char* data_;
};

// One way of computing an element, whose results may differ by `ulps` units in the last place.
struct Function {
  std::string name;
  DataType result;
  double ulps;
  std::function<Expr(const Expr& x, const Expr& y)> value;
};

// The distance from one float of the type to the next.
long double UlpAt(long double value, DataType dtype) {
  const int bits = dtype == DataType::kFloat64   ? 53
                   : dtype == DataType::kFloat32 ? 24
                   : dtype == DataType::kFloat16 ? 11
                                                 : 8;
  const int least = dtype == DataType::kFloat64   ? -1074
                    : dtype == DataType::kFloat32 ? -149
                    : dtype == DataType::kFloat16 ? -24
                                                  : -133;
  int exponent = least;
  if (value != 0) std::frexp(value, &exponent);
  return std::ldexp(1.0L, std::max(exponent - bits, least));
}

// Infinity as the number that comes after the largest.
long double Finite(double value, DataType dtype) {
  if (!std::isinf(value)) return value;
  const int exponent = dtype == DataType::kFloat64 ? 1024 : dtype == DataType::kFloat16 ? 16 : 128;
  return std::copysign(std::ldexp(1.0L, exponent), static_cast<long double>(value));
}

// How far a compiled element is from the folded one, in units in the last place; infinity where one
// of them is NaN alone, or where zeros differ in sign.
double UlpsApart(uint64_t compiled, uint64_t folded, DataType dtype) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (!IsFloat(dtype)) return compiled == folded ? 0 : kNever;
  const double a = DecodeFloat(compiled, dtype);
  const double b = DecodeFloat(folded, dtype);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : kNever;
  // Where processors round to bfloat16, they make zero of subnormal numbers (docs/bfloat16.md).
  const bool is_flushed = dtype == DataType::kBFloat16 && a == 0 && std::abs(b) <= 0x1p-126;
  if ((a == 0 && b == 0) || is_flushed) return std::signbit(a) == std::signbit(b) ? 0 : kNever;
  const long double difference = std::abs(Finite(a, dtype) - Finite(b, dtype));
  return static_cast<double>(difference / UlpAt(std::abs(b), dtype));
}

// How code is made.
struct Way {
  const char* name;
  bool vectorised;
  const char* target = "native";
};

constexpr Way kWays[] = {
    {"Scalar", false},
    {"Vector", true},
#ifdef __x86_64__  // without what later processors have
    {"OldScalar", false, "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64"},
    {"OldVector", true, "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2"},
    {"Avx2Vector", true, "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3"},
#endif
};

class FoldedValues : public testing::TestWithParam<std::tuple<DataType, Way>> {
 protected:
  DataType dtype() const { return std::get<0>(GetParam()); }
  const Way& way() const { return std::get<1>(GetParam()); }

  void ExpectFoldedAsCompiled(const std::vector<Function>& functions) {
    const loop::Nest nest = NestOf(functions);
    const auto elf = BuildModule(ArtifactOf(nest, TestTarget(way().target)));
    ASSERT_TRUE(elf.ok()) << elf.status();
    const LoadedModule module(*elf);
    ASSERT_TRUE(module.ok());
    const Operands operands = MakeOperands(dtype());
    std::vector<std::unique_ptr<AlignedMemory>> owned;
    const auto memory = [&](DataType type) {
      owned.push_back(std::make_unique<AlignedMemory>(kCount * SizeBytes(type)));
      return owned.back()->data();
    };
    std::vector<void*> compiled = {memory(dtype()), memory(dtype())};
    for (int64_t i = 0; i < kCount; ++i) {
      const auto put = [&](void* to, uint64_t bits) {
        std::memcpy(static_cast<char*>(to) + i * SizeBytes(dtype()), &bits, SizeBytes(dtype()));
      };
      put(compiled[0], operands.x[i]);
      put(compiled[1], operands.y[i]);
    }
    std::vector<void*> folded = compiled;
    for (const Function& function : functions) {
      compiled.push_back(memory(function.result));
      folded.push_back(memory(function.result));
    }
    module.Run(compiled);
    ASSERT_TRUE(loop::Interpret(nest, folded).ok());
    for (size_t f = 0; f < functions.size(); ++f) {
      Compare(functions[f], operands, static_cast<const char*>(compiled[2 + f]),
              static_cast<const char*>(folded[2 + f]));
    }
  }

 private:
  loop::Nest NestOf(const std::vector<Function>& functions) const {
    loop::Nest nest;
    nest.name = "functions";
    const auto x = loop::MakeBuffer("x", dtype(), {kCount}, loop::Role::kInput);
    const auto y = loop::MakeBuffer("y", dtype(), {kCount}, loop::Role::kInput);
    nest.buffers = {x, y};
    for (size_t f = 0; f < functions.size(); ++f) {
      const std::string name = fmt::format("out{}", f);
      const auto out = loop::MakeBuffer(name, functions[f].result, {kCount}, loop::Role::kOutput);
      nest.buffers.push_back(out);
      const Expr o = loop::Var(name + ".o");
      const Expr i = loop::Var(name + ".i");
      const Expr at = o * loop::IntConst(kLanes) + i;
      const Expr value = functions[f].value(loop::Load(x, {at}), loop::Load(y, {at}));
      const auto kind = way().vectorised ? loop::LoopKind::kVectorize : loop::LoopKind::kSerial;
      nest.launches.push_back(
          {name, loop::Phase::kRun,
           loop::For(o, 0, kCount / kLanes,
                     loop::For(i, 0, kLanes, loop::Store(out, {at}, value), kind),
                     loop::LoopKind::kParallel)});
    }
    return nest;
  }

  void Compare(const Function& function, const Operands& operands, const char* compiled,
               const char* folded) const {
    const int size = SizeBytes(function.result);
    double worst = 0;
    int failures = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      uint64_t a = 0;
      uint64_t b = 0;
      std::memcpy(&a, compiled + i * size, size);
      std::memcpy(&b, folded + i * size, size);
      const double apart = UlpsApart(a, b, function.result);
      if (std::isfinite(apart)) worst = std::max(worst, apart);
      if (apart <= function.ulps || ++failures > 3) continue;
      ADD_FAILURE() << function.name << " of " << Text(operands.x[i], dtype()) << ", "
                    << Text(operands.y[i], dtype()) << ": compiled " << Text(a, function.result)
                    << ", folded " << Text(b, function.result) << ", " << apart << " ulps apart";
    }
    EXPECT_EQ(failures, 0) << function.name;
    RecordProperty(function.name, fmt::format("{:.2f}", worst));
  }

  static std::string Text(uint64_t bits, DataType dtype) {
    if (IsFloat(dtype))
      return fmt::format("{:a} ({})", DecodeFloat(bits, dtype), DecodeFloat(bits, dtype));
    const uint64_t own =
        SizeBytes(dtype) == 8 ? bits : bits & ((uint64_t{1} << SizeBytes(dtype) * 8) - 1);
    if (IsUnsigned(dtype)) return fmt::format("{}", own);
    return fmt::format("{}", loop::WrapToInt(static_cast<int64_t>(own), dtype));
  }
};

bool TakesIntegers(UnaryOp op) {
  return op == UnaryOp::kNeg || op == UnaryOp::kNot || op == UnaryOp::kAbs || op == UnaryOp::kSign;
}

// Functions of float32 that code computes in float64.
bool InDouble(UnaryOp op) { return op >= UnaryOp::kSin && op <= UnaryOp::kAtanh; }

// What docs/values.md promises: at most so many units in the last place from the folded value,
// which is the exact one rounded.
double UlpsOf(UnaryOp op, DataType dtype) {
  switch (op) {
    case UnaryOp::kNeg:
    case UnaryOp::kAbs:
    case UnaryOp::kSqrt:
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kRound:
    case UnaryOp::kSign:
    case UnaryOp::kIsNan:
    case UnaryOp::kIsInf:
      return 0;
    default:
      return dtype == DataType::kFloat64 || (dtype == DataType::kFloat32 && !InDouble(op)) ? 4 : 1;
  }
}

// As operators define it: 16-bit floats are computed as float32 and rounded once.
Expr Wide(const Expr& x) { return IsHalf(x->dtype) ? loop::Cast(DataType::kFloat32, x) : x; }

TEST_P(FoldedValues, OfOneOperandAreAsCompiled) {
  std::vector<Function> functions;
  for (int i = 0; i <= static_cast<int>(UnaryOp::kSign); ++i) {
    const auto op = static_cast<UnaryOp>(i);
    if (IsFloat(dtype()) ? op == UnaryOp::kNot : !TakesIntegers(op)) continue;
    if (dtype() == DataType::kBool && op != UnaryOp::kNot) continue;
    const bool gives_bool = op == UnaryOp::kIsNan || op == UnaryOp::kIsInf;
    const DataType result = gives_bool ? DataType::kBool : dtype();
    functions.push_back({std::string(loop::Name(op)), result, UlpsOf(op, dtype()),
                         [op, result](const Expr& x, const Expr&) {
                           return loop::Cast(result, loop::Unary(op, Wide(x)));
                         }});
  }
  ExpectFoldedAsCompiled(functions);
}

bool OfBits(BinaryOp op) {
  return op == BinaryOp::kXor || op == BinaryOp::kShiftLeft || op == BinaryOp::kShiftRight ||
         op == BinaryOp::kBitAnd || op == BinaryOp::kBitOr;
}

bool OfBools(BinaryOp op) {
  return op == BinaryOp::kAnd || op == BinaryOp::kOr || op == BinaryOp::kXor ||
         op == BinaryOp::kEq || op == BinaryOp::kNe;
}

double UlpsOf(BinaryOp op, DataType dtype) {
  if (op != BinaryOp::kPow || !IsFloat(dtype)) return 0;
  return dtype == DataType::kFloat64 ? 2048 : 1;
}

TEST_P(FoldedValues, OfTwoOperandsAreAsCompiled) {
  std::vector<Function> functions;
  for (int i = 0; i <= static_cast<int>(BinaryOp::kBitOr); ++i) {
    const auto op = static_cast<BinaryOp>(i);
    if (IsFloat(dtype()) && OfBits(op)) continue;
    if (dtype() == DataType::kBool && !OfBools(op)) continue;
    const DataType result = loop::GivesBool(op) ? DataType::kBool : dtype();
    functions.push_back({std::string(loop::Name(op)), result, UlpsOf(op, dtype()),
                         [op, result](const Expr& x, const Expr& y) {
                           return loop::Cast(result, loop::Binary(op, Wide(x), Wide(y)));
                         }});
  }
  ExpectFoldedAsCompiled(functions);
}

TEST_P(FoldedValues, CastToEveryTypeAreAsCompiled) {
  std::vector<Function> functions;
  for (const DataType to : kTypes) {
    functions.push_back({std::string("cast to ") + std::string(Name(to)), to, 0,
                         [to](const Expr& x, const Expr&) { return loop::Cast(to, x); }});
  }
  ExpectFoldedAsCompiled(functions);
}

INSTANTIATE_TEST_SUITE_P(AllTypes, FoldedValues,
                         testing::Combine(testing::ValuesIn(kTypes), testing::ValuesIn(kWays)),
                         [](const auto& info) {
                           return std::string(Name(std::get<0>(info.param))) +
                                  std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace hone::codegen
