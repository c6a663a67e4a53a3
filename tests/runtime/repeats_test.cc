// Repeats of modules: their buffers move from trip to trip, and their threads wait for each other
// as those of calls that are made once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/executor.h"
#include "runtime/memory.h"
#include "runtime/module.h"
#include "tests/runtime/c_module.h"

namespace hone {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kRow = 32;

// Every trip, d = mirror(c) / 2 + x[trip], which is the next c, in two places in turn; then
// y[trip] = mirror(d) + h / 4, which is the next h and is stacked backwards. Both start as c0. At
// the end, last = c. SERIAL: bit 0 for the first launch, bit 1 for the second.
std::string Source(int trips, int serial, const std::string& spoiled = "") {
  return "#define TRIPS " + std::to_string(trips) + "\n#define SERIAL " + std::to_string(serial) +
         "\n" + spoiled + R"(
#include "runtime/module_abi.h"
#define ROW 32
#define BYTES (4 * ROW)
#ifndef STRIDE
#define STRIDE BYTES
#endif
#ifndef FIRST
#define FIRST 0
#endif
#ifndef MOVES
#define MOVES moves
#endif
static void add(void* const* b, int64_t begin, int64_t end, void* s) {
  const float *x = b[0], *c = b[1];
  for (int64_t i = begin; i < end; ++i) ((float*)b[2])[i] = c[ROW - 1 - i] / 2 + x[i];
}
static void mix(void* const* b, int64_t begin, int64_t end, void* s) {
  const float *d = b[0], *h = b[1];
  for (int64_t i = begin; i < end; ++i) ((float*)b[2])[i] = d[ROW - 1 - i] + h[(i + 1) % ROW] / 4;
}
static void copy(void* const* b, int64_t begin, int64_t end, void* s) {
  for (int64_t i = begin; i < end; ++i) ((float*)b[1])[i] = ((const float*)b[0])[i];
}
static const int64_t row[1] = {ROW}, rows[2] = {TRIPS, ROW};
#define IN(name) {name, HONE_ROLE_INPUT, 1, 1, 0, row, "C", BYTES, 0, 0}
#define OUT(name) {name, HONE_ROLE_OUTPUT, 1, 1, 0, row, "C", BYTES, 0, 0}
static const struct hone_buffer add_buffers[3] = {IN("x"), IN("c"), OUT("d")};
static const struct hone_buffer mix_buffers[3] = {IN("d"), IN("h"), OUT("y")};
static const struct hone_buffer copy_buffers[2] = {IN("c"), OUT("last")};
static const struct hone_launch launches[3] = {
    {"add", add, ROW, 0, HONE_PHASE_RUN, SERIAL & 1, 0, 0},
    {"mix", mix, ROW, 0, HONE_PHASE_RUN, SERIAL >> 1, 0, 0},
    {"copy", copy, ROW, 0, HONE_PHASE_RUN, 0, 0, 0}};
static const struct hone_kernel kernels[3] = {
    {"add", "add", "00", "", "default", 0, 1, 3, 1, add_buffers, launches},
    {"mix", "mix", "01", "", "default", 0, 1, 3, 1, mix_buffers, launches + 1},
    {"copy", "copy", "02", "", "default", 0, 1, 2, 1, copy_buffers, launches + 2}};
#define TOP (BYTES * (TRIPS - 1))
#define BELOW (TRIPS > 1 ? BYTES * (TRIPS - 2) : 0)
#define A {HONE_SPACE_ARENA, 0, 0}
#define B {HONE_SPACE_ARENA, 0, BYTES}
#define C0 {HONE_SPACE_INPUT, 1, 0}
static const struct hone_location add_at[3] = {{HONE_SPACE_INPUT, 0, 0}, C0, A};
static const struct hone_location mix_at[3] = {A, C0, {HONE_SPACE_OUTPUT, 0, TOP}};
static const struct hone_location copy_at[2] = {{HONE_SPACE_ARENA, 0, TRIPS % 2 ? 0 : BYTES},
                                                {HONE_SPACE_OUTPUT, 1, 0}};
static const struct hone_call calls[3] = {{0, 1, add_at}, {1, 1, mix_at}, {2, 1, copy_at}};
static const struct hone_move moves[6] = {
    {{HONE_SPACE_INPUT, 0, TRIPS > 1 ? BYTES : 0}, STRIDE, 0, 0},
    {A, BYTES, 1, 0},
    {B, -BYTES, 1, 0},
    {B, -BYTES, 1, 0},
    {{HONE_SPACE_OUTPUT, 0, TOP}, -BYTES, 0, 0},
    {{HONE_SPACE_OUTPUT, 0, BELOW}, -BYTES, 0, 0}};
static const struct hone_repeat repeats[1] = {{0, FIRST, 2, 0, TRIPS, MOVES}};
static const struct hone_value inputs[2] = {{"x", 1, {0}, 2, rows, BYTES * TRIPS},
                                            {"c0", 1, {0}, 1, row, BYTES}};
static const struct hone_value outputs[2] = {{"y", 1, {0}, 2, rows, BYTES * TRIPS},
                                             {"last", 1, {0}, 1, row, BYTES}};
static const struct hone_function functions[1] = {
    {"main", 2, 2, 3, 0, inputs, outputs, calls, 2 * BYTES}};
__attribute__((visibility("default"))) const struct hone_module hone_module_v1 = {
    HONE_MODULE_ABI_VERSION_REPEATS, 3, 1, 1, "llvm -mcpu=generic -threads=2", "cc", kernels, functions, 0,
    repeats};
)";
}

using Rows = std::vector<float>;

// y, then last.
std::pair<Rows, Rows> Expected(const Rows& x, const Rows& c0, int trips) {
  Rows y(x.size());
  Rows c = c0;
  Rows h = c0;
  for (int trip = 0; trip < trips; ++trip) {
    Rows d(kRow);
    for (int i = 0; i < kRow; ++i) d[i] = c[kRow - 1 - i] / 2 + x[trip * kRow + i];
    Rows next(kRow);
    for (int i = 0; i < kRow; ++i) next[i] = d[kRow - 1 - i] + h[(i + 1) % kRow] / 4;
    std::copy(next.begin(), next.end(), y.begin() + (trips - 1 - trip) * kRow);
    c = d;
    h = next;
  }
  return {y, c};
}

void Fill(void* to, const Rows& values) {
  std::copy(values.begin(), values.end(), static_cast<float*>(to));
}

class RepeatsTest : public testing::TestWithParam<int> {
 protected:
  void Open(int trips, int serial) {
    std::string error;
    executor_ = nullptr;
    module_ = Module::Open(CompileC(folder_, "module", Source(trips, serial)), &error);
    ASSERT_NE(module_, nullptr) << error;
    executor_ = Executor::Make(*module_, module_->table().functions[0], GetParam(), &error);
    ASSERT_NE(executor_, nullptr) << error;
    for (int i = 0; i < trips * kRow; ++i) x_.push_back(static_cast<float>(i * 7 % 13));
    for (int i = 0; i < kRow; ++i) c0_.push_back(static_cast<float>(i));
    Fill(executor_->Input(0), x_);
    Fill(executor_->Input(1), c0_);
  }
  Rows Output(uint32_t index, size_t size) const {
    const auto* data = static_cast<const float*>(executor_->Output(index));
    return {data, data + size};
  }

  TestFolder folder_;
  std::unique_ptr<Module> module_;
  std::unique_ptr<Executor> executor_;
  Rows x_;
  Rows c0_;
};

TEST_P(RepeatsTest, BuffersMoveByStridesAndThereAndBack) {
  for (const int trips : {1, 2, 3, 10}) {
    for (int serial = 0; serial < 4; ++serial) {
      SCOPED_TRACE(testing::Message() << trips << " trips, serial " << serial);
      x_.clear();
      c0_.clear();
      Open(trips, serial);
      const auto [y, last] = Expected(x_, c0_, trips);
      for (int run = 0; run < 5; ++run) {
        Fill(executor_->Output(0), Rows(x_.size(), -1));
        executor_->Run();
        ASSERT_THAT(Output(0, x_.size()), ElementsAreArray(y)) << run;
        ASSERT_THAT(Output(1, kRow), ElementsAreArray(last)) << run;
      }
    }
  }
}

TEST_P(RepeatsTest, MoveInTheMemoryThatIsBound) {
  Open(5, 0);
  Memory x(x_.size() * sizeof(float));
  Memory y(x_.size() * sizeof(float));
  Rows other = x_;
  for (float& value : other) value += 3;
  Fill(x.data(), other);
  executor_->BindInput(0, x.data());
  executor_->BindOutput(0, y.data());
  executor_->Run();
  EXPECT_THAT(Output(0, x_.size()), ElementsAreArray(Expected(other, c0_, 5).first));
}

TEST_P(RepeatsTest, AreTimedAndProfiledAsTheCallsThatTheyAre) {
  Open(7, 0);
  EXPECT_THAT(executor_->Profile(3), SizeIs(3));
  std::string error;
  for (uint32_t call = 0; call < 3; ++call) EXPECT_GE(executor_->TimeCall(call, 3, &error), 0);
  EXPECT_GE(executor_->TimeWithoutKernels(3), 0);
  executor_->Run();
  EXPECT_THAT(Output(0, x_.size()), ElementsAreArray(Expected(x_, c0_, 7).first));
}

INSTANTIATE_TEST_SUITE_P(Threads, RepeatsTest, testing::Values(1, 2, 4));

TEST(RepeatTables, ThatReachBeyondTheirMemoryAreRefused) {
  TestFolder folder;
  const auto error_of = [&](const std::string& spoiled) {
    std::string error;
    EXPECT_EQ(Module::Open(CompileC(folder, "module", Source(4, 0, spoiled)), &error), nullptr);
    return error;
  };
  EXPECT_THAT(error_of("#define STRIDE 192\n"),
              HasSubstr("repeated call of kernel add reaches beyond its memory"));
  EXPECT_THAT(error_of("#define STRIDE -192\n"), HasSubstr("kernel add moves out of all memory"));
  EXPECT_THAT(error_of("#define STRIDE (INT64_MAX - 63)\n"), HasSubstr("moves out of all memory"));
  EXPECT_THAT(error_of("#define STRIDE 100\n"), HasSubstr("not aligned to 64 bytes"));
  EXPECT_THAT(error_of("#define FIRST 2\n"), HasSubstr("a repeat has a damaged table"));
  EXPECT_THAT(error_of("#define MOVES 0\n"), HasSubstr("a repeat has a damaged table"));
}

}  // namespace
}  // namespace hone
