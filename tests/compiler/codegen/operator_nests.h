// Nests of one operator each element, of every operator and type.
#ifndef HONE_TESTS_COMPILER_CODEGEN_OPERATOR_NESTS_H_
#define HONE_TESTS_COMPILER_CODEGEN_OPERATOR_NESTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/loop/stmt.h"

namespace hone::codegen {

inline constexpr DataType kEveryType[] = {
    DataType::kFloat32, DataType::kFloat64, DataType::kFloat16, DataType::kBFloat16,
    DataType::kInt8,    DataType::kInt16,   DataType::kInt32,   DataType::kInt64,
    DataType::kUInt8,   DataType::kUInt16,  DataType::kUInt32,  DataType::kUInt64,
    DataType::kBool};
inline constexpr int64_t kElements = 37;

// One launch that stores `value(i)` to a new output for each of several values; 16 lanes with a
// masked tail, or one.
class ElementwiseNest {
 public:
  explicit ElementwiseNest(bool vectorised);

  // Values of the domain, where there is one.
  loop::Buffer Input(DataType dtype, double low = 0, double high = 0);
  void Add(const std::function<loop::Expr(loop::Expr i)>& value);
  loop::Nest Finish();

 private:
  bool vectorised_;
  loop::Nest nest_;
  std::vector<loop::Buffer> inputs_;
  std::vector<loop::Buffer> outputs_;
};

// What results of the type may be off by, relative to max(1, |value|).
double Tolerance(DataType dtype);

// All operators that the type has.
loop::Nest UnaryNest(DataType dtype, bool vectorised);
loop::Nest BinaryNest(DataType dtype, bool vectorised);
// Divisions of integers all over their range, by zero and -1 too.
loop::Nest QuotientNest(DataType dtype, bool vectorised);
// Casts to every type.
loop::Nest CastNest(DataType dtype, bool vectorised);
// Values chosen by data, and loads that are out of bounds unless guarded.
loop::Nest SelectNest(DataType dtype, bool vectorised);
// Casts to integers of what does not fit in them.
loop::Nest SaturatingNest(DataType from);
// Remainders of quotients of many bits.
loop::Nest RemainderNest(DataType dtype);
// Minima and maxima of NaN.
loop::Nest NanNest();

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_OPERATOR_NESTS_H_
