// Every operator on every type computes in OpenCL C what the interpreter does.
#include "tests/compiler/codegen/opencl/same_results.h"
#include "tests/compiler/codegen/operator_nests.h"

namespace hone::codegen {
namespace {

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

INSTANTIATE_TEST_SUITE_P(EveryType, OpenClOperators, testing::ValuesIn(kEveryType),
                         [](const auto& info) { return std::string(Name(info.param)); });

TEST(OpenClMinMax, PropagatesNan) {
  HONE_SKIP_WITHOUT_OPENCL();
  ExpectOpenClSameAsInterpreter(NanNest(), 0);
}

}  // namespace
}  // namespace hone::codegen
