// Tests of the operators of a type, which programs instantiate for the types that they have time
// for: PoCL takes a second or more for each program that it compiles.
#ifndef HONE_TESTS_COMPILER_CODEGEN_OPENCL_OPERATORS_SUITE_H_
#define HONE_TESTS_COMPILER_CODEGEN_OPENCL_OPERATORS_SUITE_H_

#include <string>

#include "tests/compiler/codegen/opencl/run_kernels.h"
#include "tests/compiler/codegen/opencl/same_results.h"
#include "tests/compiler/codegen/operator_nests.h"

namespace hone::codegen {

class OpenClOperators : public testing::TestWithParam<DataType> {
 protected:
  void SetUp() override { HONE_SKIP_WITHOUT_OPENCL(); }
  DataType dtype() const { return GetParam(); }
  bool IsInt() const { return !IsFloat(dtype()) && dtype() != DataType::kBool; }
};

TEST_P(OpenClOperators, UnaryIsAsInterpreted) {
  ExpectOpenClSameAsInterpreter(UnaryNest(dtype(), false), Tolerance(dtype()));
}

TEST_P(OpenClOperators, BinaryIsAsInterpreted) {
  ExpectOpenClSameAsInterpreter(BinaryNest(dtype(), false), Tolerance(dtype()) * 4);
}

TEST_P(OpenClOperators, WholeQuotientsAreExact) {
  if (IsInt()) ExpectOpenClSameAsInterpreter(QuotientNest(dtype(), false), 0);
}

TEST_P(OpenClOperators, CastsAreAsInterpreted) {
  ExpectOpenClSameAsInterpreter(CastNest(dtype(), false), 1e-7);
}

TEST_P(OpenClOperators, SelectsAreAsInterpreted) {
  ExpectOpenClSameAsInterpreter(SelectNest(dtype(), true));
}

TEST_P(OpenClOperators, CastsOfWhatDoesNotFitSaturate) {
  const bool is_wide = dtype() == DataType::kFloat32 || dtype() == DataType::kFloat64;
  if (is_wide) ExpectOpenClSameAsInterpreter(SaturatingNest(dtype()), 0);
}

TEST_P(OpenClOperators, RemaindersOfFloatsAreExact) {
  const bool is_wide = dtype() == DataType::kFloat32 || dtype() == DataType::kFloat64;
  if (is_wide) ExpectOpenClSameAsInterpreter(RemainderNest(dtype()), 0);
}

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_OPENCL_OPERATORS_SUITE_H_
