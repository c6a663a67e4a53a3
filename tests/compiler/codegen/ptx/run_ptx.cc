#include "tests/compiler/codegen/ptx/run_ptx.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/loop/interpreter.h"
#include "runtime/device.h"
#include "tests/compiler/codegen/harness.h"

namespace hone::codegen {
namespace {

Target CudaTargetOf(const std::string& text) {
  absl::StatusOr<Target> target = Target::Parse(text);
  EXPECT_TRUE(target.ok()) << target.status();
  return *std::move(target);
}

// Runs the launches one after the other on copies of the buffers, which then hold what the copies
// do. Returns the first failure.
std::string Run(cuda::CudaDevice& device, const hone_module& module,
                const std::vector<BufferBytes>& buffers) {
  std::vector<std::unique_ptr<DeviceMemory>> copies;
  for (const BufferBytes& buffer : buffers) {
    copies.push_back(device.Allocate(buffer.bytes));
    if (copies.back() == nullptr) return "no memory on the device";
    device.CopyIn(copies.back()->data(), buffer.data, buffer.bytes);
  }
  const cuda::CudaApi& api = device.api();
  {
    const cuda::InContext in_context(device);
    cuda::DriverModule loaded = nullptr;
    std::string log(4096, '\0');
    int options[] = {cuda::kErrorLogBuffer, cuda::kErrorLogBufferSizeBytes};
    void* option_values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    const cuda::Result result =
        api.ModuleLoadDataEx(&loaded, module.codes[0].bytes, 2, options, option_values);
    if (result != cuda::kSuccess) return api.NameOf(result) + ": " + log.c_str();
    for (uint32_t i = 0; i < module.device_launch_count; ++i) {
      const hone_device_launch& launch = module.device_launches[i];
      cuda::Function function = nullptr;
      device.Check(api.ModuleGetFunction(&function, loaded, launch.entry), "find an entry");
      const auto shared_bytes = static_cast<unsigned>(launch.shared_bytes);
      if (device.has_failed()) return device.error();
      device.Check(api.FuncSetAttribute(function, cuda::kMaxDynamicSharedSizeBytes,
                                        static_cast<int>(shared_bytes)),
                   "allow shared memory");
      std::vector<void*> values;
      for (uint32_t a = 0; a < launch.argument_count; ++a) {
        values.push_back(copies[launch.arguments[a]]->data());
      }
      std::vector<void*> parameters;
      for (void*& value : values) parameters.push_back(&value);
      device.Check(api.LaunchKernel(function, launch.blocks[0], launch.blocks[1], launch.blocks[2],
                                    launch.threads[0], launch.threads[1], launch.threads[2],
                                    shared_bytes, device.stream(), parameters.data(), nullptr),
                   "launch");
    }
    device.Synchronize("run");
    api.ModuleUnload(loaded);
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    device.CopyOut(buffers[i].data, copies[i]->data(), buffers[i].bytes);
  }
  return device.error();
}

}  // namespace

cuda::CudaDevice* FindCudaDevice(std::string* why) {
  struct Opened {
    std::shared_ptr<cuda::CudaDevice> device;
    std::string error;
  };
  static const auto* const opened = [] {
    auto* const made = new Opened();
    made->device = cuda::CudaDevice::Make(0, &made->error);
    return made;
  }();
  *why = opened->error;
  return opened->device.get();
}

std::string PtxOf(const loop::Nest& nest, const std::string& target) {
  const absl::StatusOr<std::string> text = EmitAssembly(ArtifactOf(nest, CudaTargetOf(target)));
  EXPECT_TRUE(text.ok()) << text.status() << "\n" << loop::ToText(nest);
  return text.value_or("");
}

void RunOnCuda(const loop::Nest& nest, const std::string& target, const Buffers& buffers) {
  std::string why;
  cuda::CudaDevice* const device = FindCudaDevice(&why);
  ASSERT_NE(device, nullptr) << why;
  const auto elf = BuildModule(ArtifactOf(nest, CudaTargetOf(target)));
  ASSERT_TRUE(elf.ok()) << elf.status() << "\n" << loop::ToText(nest);
  const LoadedModule module(*elf);
  ASSERT_TRUE(module.ok());
  ASSERT_EQ(Run(*device, *module.operator->(), MemoryOf(nest, buffers)), "") << loop::ToText(nest);
}

void ExpectCudaSameAsInterpreter(const loop::Nest& nest, const std::string& target,
                                 double tolerance) {
  const Buffers got(nest, 7);
  const Buffers want(nest, 7);
  RunOnCuda(nest, target, got);
  if (testing::Test::HasFatalFailure()) return;
  const absl::Status interpreted = loop::Interpret(nest, want.pointers());
  ASSERT_TRUE(interpreted.ok()) << interpreted;
  ExpectSameOutputs(nest, got, want, tolerance);
}

}  // namespace hone::codegen
