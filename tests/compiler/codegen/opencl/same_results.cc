#include "tests/compiler/codegen/opencl/same_results.h"

#include <fmt/format.h>

#include "compiler/loop/interpreter.h"
#include "compiler/lower/lower.h"

namespace hone::codegen {

Target AnyOpenClTarget() { return *Target::Parse("opencl -device=any"); }

std::vector<opencl::Kernel> KernelsOf(const loop::Nest& nest) {
  const auto launches = lower::LowerLaunches(nest, AnyOpenClTarget());
  EXPECT_TRUE(launches.ok()) << launches.status();
  std::vector<opencl::Kernel> kernels;
  if (!launches.ok()) return kernels;
  for (const lower::LoweredLaunch& launch : *launches) {
    auto kernel = opencl::EmitKernel(launch, fmt::format("k{}_{}", kernels.size(), launch.name),
                                     nest.buffers);
    EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << loop::ToText(nest);
    if (!kernel.ok()) return {};
    kernels.push_back(*std::move(kernel));
  }
  return kernels;
}

void RunByOpenCl(hone::opencl::OpenClDevice& device, const loop::Nest& nest, const Buffers& buffers,
                 const opencl::KernelOptions& options) {
  const std::vector<opencl::Kernel> kernels = KernelsOf(nest);
  ASSERT_FALSE(kernels.empty());
  const std::string program = ProgramText(kernels, options);
  const absl::Status ran = RunKernels(device, program, kernels, MemoryOf(nest, buffers));
  ASSERT_TRUE(ran.ok()) << ran << "\n" << loop::ToText(nest);
}

void ExpectOpenClSameAsInterpreter(const loop::Nest& nest, double tolerance,
                                   const opencl::KernelOptions& options) {
  std::string why;
  hone::opencl::OpenClDevice* const device = FindOpenClDevice(&why);
  ASSERT_NE(device, nullptr) << why;
  const Buffers got(nest, 7);
  const Buffers want(nest, 7);
  RunByOpenCl(*device, nest, got, options);
  const absl::Status interpreted = loop::Interpret(nest, want.pointers());
  ASSERT_TRUE(interpreted.ok()) << interpreted;
  ExpectSameOutputs(nest, got, want, tolerance);
  if (testing::Test::HasFailure()) {
    fmt::print("{}\n", ProgramText(KernelsOf(nest), options));
  }
}

}  // namespace hone::codegen
