// The driver that stands in for NVIDIA's multiplies by wgmma as the PTX ISA has it, and gives
// rubbish where a kernel does not keep to its rules. Not for a GPU, where breaking them is
// undefined.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/compiler/codegen/ptx/run_ptx.h"

namespace hone::codegen {
namespace {

constexpr int kSide = 64;  // of all matrices

// c = a * b, or a * b transposed, of matrices whose rows are 64 elements, by 128 threads.
struct GroupKernel {
  std::string dtype = "bf16";
  bool right_has_terms = false;  // rows of b are terms, not lanes
  bool tells_proxy = true;
  bool fences = true;
  bool waits = true;
  bool overwrites = false;  // a factor, before the wait
  // The last two of four products are a group of their own, and the first two are waited for. Then
  // a factor is overwritten of a product of which group?
  enum class Overwritten { kNone, kFirst, kSecond } overwrites_of = Overwritten::kNone;
};

// Copies a matrix to shared memory in chunks of 16 bytes, swizzled.
std::string CopyToShared(const std::string& from, int to) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += fmt::format(
        "add.s32 %r2, %r1, {0}; shr.u32 %r3, %r2, 3; xor.b32 %r4, %r2, %r3; and.b32 %r4, %r4, 7;\n"
        "and.b32 %r5, %r2, 1016; or.b32 %r4, %r4, %r5; mul.wide.u32 %rd5, %r2, 16;\n"
        "mul.wide.u32 %rd6, %r4, 16; add.s64 %rd5, %rd5, {1}; add.s64 %rd6, %rd6, %rd4;\n"
        "ld.global.v4.b32 {{%r6, %r7, %r8, %r9}}, [%rd5];\n"
        "st.shared.v4.b32 [%rd6+{2}], {{%r6, %r7, %r8, %r9}};\n",
        i * 128, from, to);
  }
  return text;
}

std::string HandWritten(const GroupKernel& k) {
  std::string sums;
  for (int i = 0; i < kSide / 2; ++i) sums += fmt::format("{}%f{}", i > 0 ? ", " : "", i);
  std::string text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".extern .shared .align 1024 .b8 memory[];\n"
      ".visible .entry multiply(.param .u64 a, .param .u64 b, .param .u64 c) {\n"
      ".reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<32>; .reg .pred %p<2>;\n"
      "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];\n"
      "mov.u64 %rd4, memory; mov.u32 %r1, %tid.x;\n";
  text += CopyToShared("%rd1", 0) + CopyToShared("%rd2", 8192);
  if (k.tells_proxy) text += "fence.proxy.async.shared::cta;\n";
  text +=
      "bar.sync 0;\n"
      "and.b64 %rd7, %rd4, 262143; shr.u64 %rd7, %rd7, 4; or.b64 %rd7, %rd7, "
      "4611686293305360384;\n";
  for (int i = 0; i < kSide / 2; ++i) text += fmt::format("mov.f32 %f{}, 0f3F800000;\n", i);
  if (k.fences) text += "wgmma.fence.sync.aligned;\n";
  for (int step = 0; step < 4; ++step) {
    if (step == 2 && k.overwrites_of != GroupKernel::Overwritten::kNone) {
      text += "wgmma.commit_group.sync.aligned;\n";
    }
    text += fmt::format(
        "add.s64 %rd8, %rd7, {0}; add.s64 %rd9, %rd7, {1};\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.{2}.{2} {{{3}}}, %rd8, %rd9, 1, 1, 1, 0, "
        "{4};\n",
        step * 2, 512 + step * (k.right_has_terms ? 128 : 2), k.dtype, sums,
        k.right_has_terms ? 1 : 0);
  }
  text += "wgmma.commit_group.sync.aligned;\n";
  if (k.overwrites_of != GroupKernel::Overwritten::kNone) {
    // A thread has copied terms of one of the groups.
    text += fmt::format(
        "wgmma.wait_group.sync.aligned 1;\nbar.sync 0;\nand.b32 %r10, %r1, 4;\n"
        "setp.eq.s32 %p1, %r10, {};\n@%p1 st.shared.b32 [%rd6], %r1;\nbar.sync 0;\n",
        k.overwrites_of == GroupKernel::Overwritten::kFirst ? 0 : 4);
  }
  if (k.overwrites) text += "st.shared.b32 [%rd6], %r1;\n";
  if (k.waits) text += "wgmma.wait_group.sync.aligned 0;\n";
  // Row 16 * warp + lane / 4, and column lane % 4 * 2.
  text +=
      "shr.u32 %r2, %r1, 5; shl.b32 %r2, %r2, 4; shr.u32 %r3, %r1, 2; and.b32 %r3, %r3, 7;\n"
      "add.s32 %r2, %r2, %r3; shl.b32 %r2, %r2, 6; and.b32 %r3, %r1, 3; shl.b32 %r3, %r3, 1;\n"
      "add.s32 %r2, %r2, %r3; mul.wide.u32 %rd5, %r2, 4; add.s64 %rd3, %rd3, %rd5;\n";
  for (int i = 0; i < kSide / 2; ++i) {
    const int at = i / 4 * 8 + i / 2 % 2 * 8 * kSide + i % 2;
    text += fmt::format("st.global.f32 [%rd3+{}], %f{};\n", at * 4, i);
  }
  return text + "ret; }\n";
}

// Small integers, whose sums are exact.
float ElementAt(int matrix, int row, int column) {
  return static_cast<float>((row * 7 + column * 3 + matrix * 5 + row * column) % 9 - 4);
}

uint16_t BitsOf(float value, const std::string& dtype) {
  if (dtype == "f16") return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
}

// What the kernel makes of both matrices.
std::vector<float> ProductsOf(cuda::CudaDevice& device, const GroupKernel& k) {
  std::vector<uint16_t> factors[2];
  for (int matrix = 0; matrix < 2; ++matrix) {
    for (int i = 0; i < kSide * kSide; ++i) {
      factors[matrix].push_back(BitsOf(ElementAt(matrix, i / kSide, i % kSide), k.dtype));
    }
  }
  std::vector<float> products(kSide * kSide);
  const size_t factor_bytes = kSide * kSide * sizeof(uint16_t);
  const auto a = device.Allocate(factor_bytes), b = device.Allocate(factor_bytes);
  const auto c = device.Allocate(products.size() * sizeof(float));
  device.CopyIn(a->data(), factors[0].data(), factor_bytes);
  device.CopyIn(b->data(), factors[1].data(), factor_bytes);
  {
    const cuda::InContext in_context(device);
    const cuda::CudaApi& api = device.api();
    cuda::DriverModule loaded = nullptr;
    std::string log(4096, '\0');
    int options[] = {cuda::kErrorLogBuffer, cuda::kErrorLogBufferSizeBytes};
    void* option_values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    const std::string ptx = HandWritten(k);
    EXPECT_EQ(api.ModuleLoadDataEx(&loaded, ptx.c_str(), 2, options, option_values), cuda::kSuccess)
        << log.c_str();
    cuda::Function function = nullptr;
    device.Check(api.ModuleGetFunction(&function, loaded, "multiply"), "find an entry");
    void* values[] = {a->data(), b->data(), c->data()};
    void* parameters[] = {&values[0], &values[1], &values[2]};
    device.Check(
        api.LaunchKernel(function, 1, 1, 1, 128, 1, 1, 16384, device.stream(), parameters, nullptr),
        "launch");
    device.Synchronize("run");
    api.ModuleUnload(loaded);
  }
  device.CopyOut(products.data(), c->data(), products.size() * sizeof(float));
  EXPECT_EQ(device.error(), "");
  return products;
}

float ExpectedAt(const GroupKernel& k, int row, int lane) {
  float sum = 1;
  for (int term = 0; term < kSide; ++term) {
    sum += ElementAt(0, row, term) *
           (k.right_has_terms ? ElementAt(1, term, lane) : ElementAt(1, lane, term));
  }
  return sum;
}

cuda::CudaDevice* TheDevice() {
  std::string why;
  return FindCudaDevice(&why);
}

bool IsStandIn(const cuda::CudaDevice& device) {
  char name[64] = {};
  device.api().DeviceGetName(name, sizeof(name) - 1, 0);
  return std::string(name) == "Test Device";
}

TEST(WarpgroupInstruction, MultipliesSwizzledMatrices) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const GroupKernel& k :
       {GroupKernel{}, GroupKernel{.dtype = "f16"}, GroupKernel{.right_has_terms = true},
        GroupKernel{.overwrites_of = GroupKernel::Overwritten::kFirst}}) {
    SCOPED_TRACE(HandWritten(k));
    const std::vector<float> products = ProductsOf(*TheDevice(), k);
    for (int row = 0; row < kSide; ++row) {
      for (int lane = 0; lane < kSide; ++lane) {
        ASSERT_EQ(products[row * kSide + lane], ExpectedAt(k, row, lane)) << row << " " << lane;
      }
    }
  }
}

TEST(WarpgroupInstruction, WithoutItsFencesAndWaitsThereIsRubbish) {
  HONE_SKIP_WITHOUT_CUDA();
  if (!IsStandIn(*TheDevice())) {
    GTEST_SKIP() << "what a GPU does then is not defined";
  }
  for (const GroupKernel& k : {GroupKernel{.tells_proxy = false}, GroupKernel{.fences = false},
                               GroupKernel{.waits = false}, GroupKernel{.overwrites = true},
                               GroupKernel{.overwrites_of = GroupKernel::Overwritten::kSecond}}) {
    SCOPED_TRACE(HandWritten(k));
    for (const float product : ProductsOf(*TheDevice(), k)) {
      EXPECT_TRUE(std::isnan(product));
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace hone::codegen
