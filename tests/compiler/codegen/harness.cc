#include "tests/compiler/codegen/harness.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>

#include "compiler/loop/interpreter.h"
#include "compiler/loop/scalar.h"
#include "runtime/host_cpu.h"
#include "runtime/missing_feature.h"
#include "support/random.h"
#include "tests/compiler/codegen/emulator.h"

namespace hone::codegen {
namespace {

constexpr size_t kPage = 4096;

double ReadElement(const void* base, DataType dtype, int64_t i) {
  switch (dtype) {
    case DataType::kFloat32:
      return static_cast<const float*>(base)[i];
    case DataType::kFloat64:
      return static_cast<const double*>(base)[i];
    case DataType::kFloat16:
      return loop::DecodeFloat16(static_cast<const uint16_t*>(base)[i]);
    case DataType::kBFloat16:
      return loop::DecodeBFloat16(static_cast<const uint16_t*>(base)[i]);
    case DataType::kInt8:
      return static_cast<const int8_t*>(base)[i];
    case DataType::kInt16:
      return static_cast<const int16_t*>(base)[i];
    case DataType::kInt32:
      return static_cast<const int32_t*>(base)[i];
    case DataType::kInt64:
      return static_cast<double>(static_cast<const int64_t*>(base)[i]);
    case DataType::kUInt16:
      return static_cast<const uint16_t*>(base)[i];
    case DataType::kUInt32:
      return static_cast<const uint32_t*>(base)[i];
    case DataType::kUInt64:
      return static_cast<double>(static_cast<const uint64_t*>(base)[i]);
    default:
      return static_cast<const uint8_t*>(base)[i];
  }
}

void WriteElement(void* base, DataType dtype, int64_t i, double value) {
  switch (dtype) {
    case DataType::kFloat32:
      static_cast<float*>(base)[i] = static_cast<float>(value);
      return;
    case DataType::kFloat64:
      static_cast<double*>(base)[i] = value;
      return;
    case DataType::kFloat16:
      static_cast<uint16_t*>(base)[i] = loop::EncodeFloat16(loop::RoundToFloat(value, dtype));
      return;
    case DataType::kBFloat16:
      static_cast<uint16_t*>(base)[i] = loop::EncodeBFloat16(loop::RoundToFloat(value, dtype));
      return;
    case DataType::kInt16:
      static_cast<int16_t*>(base)[i] = static_cast<int16_t>(value);
      return;
    case DataType::kInt32:
      static_cast<int32_t*>(base)[i] = static_cast<int32_t>(value);
      return;
    case DataType::kInt64:
      static_cast<int64_t*>(base)[i] = static_cast<int64_t>(value);
      return;
    case DataType::kUInt16:
      static_cast<uint16_t*>(base)[i] = static_cast<uint16_t>(static_cast<int64_t>(value));
      return;
    case DataType::kUInt32:
      static_cast<uint32_t*>(base)[i] = static_cast<uint32_t>(static_cast<int64_t>(value));
      return;
    case DataType::kUInt64:
      static_cast<uint64_t*>(base)[i] = static_cast<uint64_t>(static_cast<int64_t>(value));
      return;
    default:
      static_cast<uint8_t*>(base)[i] = static_cast<uint8_t>(static_cast<int>(value));
  }
}

double RandomElement(Random& random, const loop::BufferNode& buffer) {
  const bool free_domain = buffer.domain_low == 0 && buffer.domain_high == 0;
  double low = free_domain ? -2 : buffer.domain_low;
  double high = free_domain ? 2 : buffer.domain_high;
  if (buffer.dtype == DataType::kBool) return static_cast<double>(random.Below(2));
  if (IsFloat(buffer.dtype)) return low + (high - low) * random.Uniform();
  if (free_domain) {
    const bool byte = SizeBytes(buffer.dtype) == 1;  // their products want the ends of the range
    low = buffer.dtype == DataType::kUInt8 ? 0 : byte ? -128 : -9;
    high = buffer.dtype == DataType::kUInt8 ? 255 : byte ? 127 : 9;
  }
  return low + static_cast<double>(random.Below(static_cast<uint64_t>(high - low) + 1));
}

bool Close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

}  // namespace

std::vector<BufferBytes> MemoryOf(const loop::Nest& nest, const Buffers& buffers) {
  std::vector<BufferBytes> memory;
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const loop::BufferNode& buffer = *nest.buffers[i];
    const int64_t bytes = buffer.layout.ElementCount(buffer.shape) * SizeBytes(buffer.dtype);
    memory.push_back({buffers.pointers()[i], static_cast<size_t>(bytes)});
  }
  return memory;
}

int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

CpuTarget TestTarget(const std::string& text) {
  auto target = CpuTarget::Parse(text);
  EXPECT_TRUE(target.ok()) << target.status().ToString();
  return *target;
}

bool RunsHere(const CpuTarget& target) {
  return !NeedsEmulator(target) && MissingFeature(target.ToString(), HostFeatures()).empty();
}

ModuleSpec ArtifactOf(const loop::Nest& nest, const Target& target, const std::string& pipeline) {
  ModuleSpec spec;
  spec.target = target;
  KernelSpec kernel;
  kernel.name = nest.name;
  kernel.nest = nest;
  kernel.pipeline = pipeline;
  spec.kernels.push_back(kernel);
  return spec;
}

LoadedModule::LoadedModule(const std::string& elf) {
  const int fd = memfd_create("module", MFD_CLOEXEC);
  EXPECT_EQ(write(fd, elf.data(), elf.size()), static_cast<ssize_t>(elf.size()));
  handle_ = dlopen(fmt::format("/proc/self/fd/{}", fd).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(fd);
  EXPECT_NE(handle_, nullptr) << dlerror();
  if (!handle_) return;
  module_ = static_cast<const hone_module*>(dlsym(handle_, HONE_MODULE_SYMBOL));
  EXPECT_NE(module_, nullptr);
}

LoadedModule::~LoadedModule() {
  if (handle_) dlclose(handle_);
}

void LoadedModule::Run(const std::vector<void*>& buffers, int64_t piece) const {
  const hone_kernel& kernel = module_->kernels[0];
  for (uint32_t i = 0; i < kernel.launch_count; ++i) {
    const hone_launch& launch = kernel.launches[i];
    void* scratch = aligned_alloc(64, (launch.scratch_bytes + 127) / 64 * 64);
    memset(scratch, 0xFF, launch.scratch_bytes);
    for (int64_t end = launch.grid_extent; end > 0; end -= piece) {
      launch.function(buffers.data(), std::max<int64_t>(0, end - piece), end, scratch);
    }
    free(scratch);
  }
}

Buffers::Buffers(const loop::Nest& nest, uint64_t seed) {
  Random random(seed);
  for (const loop::Buffer& buffer : nest.buffers) {
    const int64_t count = buffer->layout.ElementCount(buffer->shape);
    const size_t bytes = (count * SizeBytes(buffer->dtype) + 63) / 64 * 64;
    const size_t pages = (bytes + kPage - 1) / kPage * kPage;
    const size_t total = pages + 2 * kPage;
    auto* base = static_cast<char*>(
        mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base, kPage, PROT_NONE);
    mprotect(base + kPage + pages, kPage, PROT_NONE);
    mappings_.push_back({base, total});
    void* data = base + kPage + pages - bytes;
    pointers_.push_back(data);
    memset(data, 0xFF, bytes);
    if (buffer->role != loop::Role::kInput && buffer->role != loop::Role::kConstant) continue;
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(RandomElement(random, *buffer));
    if (buffer->ascending) std::sort(values.begin(), values.end());
    for (int64_t i = 0; i < count; ++i) WriteElement(data, buffer->dtype, i, values[i]);
  }
}

Buffers::~Buffers() {
  for (const Mapping& mapping : mappings_) munmap(mapping.base, mapping.bytes);
}

double Buffers::At(const loop::Nest& nest, int buffer, int64_t element) const {
  return ReadElement(pointers_[buffer], nest.buffers[buffer]->dtype, element);
}

void Buffers::Set(const loop::Nest& nest, int buffer, int64_t element, double value) {
  WriteElement(pointers_[buffer], nest.buffers[buffer]->dtype, element, value);
}

void ExpectSameOutputs(const loop::Nest& nest, const Buffers& got, const Buffers& want,
                       double tolerance) {
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const loop::BufferNode& buffer = *nest.buffers[i];
    if (buffer.role != loop::Role::kOutput) continue;
    const double limit = IsFloat(buffer.dtype) ? tolerance : 0;
    const int64_t count = buffer.layout.ElementCount(buffer.shape);
    int failures = 0;
    for (int64_t j = 0; j < count && failures < 3; ++j) {
      const double a = got.At(nest, static_cast<int>(i), j);
      const double b = want.At(nest, static_cast<int>(i), j);
      if (Close(a, b, limit)) continue;
      ++failures;
      ADD_FAILURE() << buffer.name << "[" << j << "]: compiled " << a << ", interpreted " << b
                    << "\n"
                    << loop::ToText(nest);
    }
  }
}

namespace {

// Once for each target.
void SayOnlyBuilt(const CpuTarget& target) {
  static auto* const said = new std::set<std::string>;
  const std::string missing = MissingFeature(target.ToString(), HostFeatures());
  if (!said->insert(target.ToString()).second) return;
  fmt::print("code for {} is built and not run: this machine lacks {}\n", target.cpu, missing);
}

}  // namespace

void ExpectSameAsInterpreter(const loop::Nest& nest, double tolerance, const std::string& target,
                             const std::string& pipeline) {
  const auto elf = BuildModule(ArtifactOf(nest, TestTarget(target), pipeline));
  ASSERT_TRUE(elf.ok()) << elf.status().ToString() << "\n" << loop::ToText(nest);
  const CpuTarget machine = TestTarget(target);
  if (!NeedsEmulator(machine) && !RunsHere(machine)) return SayOnlyBuilt(machine);
  const Buffers got(nest, 7);
  const Buffers want(nest, 7);
  if (NeedsEmulator(machine)) {
    ASSERT_EQ(RunEmulated(*elf, MemoryOf(nest, got)), "");
  } else {
    const LoadedModule module(*elf);
    ASSERT_TRUE(module.ok());
    module.Run(got.pointers(), /*piece=*/3);
  }
  const absl::Status interpreted = loop::Interpret(nest, want.pointers());
  ASSERT_TRUE(interpreted.ok()) << interpreted.ToString();
  ExpectSameOutputs(nest, got, want, tolerance);
}

}  // namespace hone::codegen
