#include "measure_server/timed_kernel.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "measure_server/calibrator.h"
#include "runtime/host_cpu.h"

namespace hone::measure {
namespace {

constexpr uint64_t kMaxCopies = 64;
// Beyond it the thread waited for something.
constexpr double kMaxExcess = 0.01;

double NowNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Of all threads of the process.
long Preemptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

bool IsConstant(const hone_buffer& buffer) {
  return buffer.role == HONE_ROLE_CONSTANT || buffer.role == HONE_ROLE_PREPARED;
}

}  // namespace

TimedKernel::TimedKernel(const hone_kernel& kernel, ThreadTeam& team, bool cold_constants)
    : kernel_(kernel),
      team_(team),
      cold_constants_(cold_constants),
      runner_(kernel, team),
      buffers_(KernelBuffers::Plain(kernel)) {}

bool TimedKernel::SetUp(uint64_t seed) {
  if (!runner_.ok() || !buffers_.ok()) return false;
  buffers_.Fill(seed, InputSet::kFloat);
  runner_.Bind(buffers_.pointers());
  runner_.Run(HONE_PHASE_PREPARE);
  bindings_.push_back(buffers_.pointers());
  return !cold_constants_ || MakeCopies();
}

bool TimedKernel::MakeCopies() {
  uint64_t constant_bytes = 0;
  for (uint32_t b = 0; b < kernel_.buffer_count; ++b) {
    if (IsConstant(kernel_.buffers[b])) constant_bytes += kernel_.buffers[b].size_bytes;
  }
  if (constant_bytes == 0) return true;
  const auto cache_bytes = static_cast<uint64_t>(DescribeHost().cache_bytes[2]);
  const uint64_t copies = std::clamp<uint64_t>(2 * cache_bytes / constant_bytes + 1, 2, kMaxCopies);
  while (bindings_.size() < copies) {
    std::vector<void*> pointers = buffers_.pointers();
    for (uint32_t b = 0; b < kernel_.buffer_count; ++b) {
      const hone_buffer& buffer = kernel_.buffers[b];
      if (!IsConstant(buffer) || buffer.size_bytes == 0) continue;
      copies_.emplace_back(buffer.size_bytes);
      if (copies_.back().data() == nullptr) return false;
      std::memcpy(copies_.back().data(), pointers[b], buffer.size_bytes);
      pointers[b] = copies_.back().data();
    }
    bindings_.push_back(std::move(pointers));
  }
  return true;
}

Chunk TimedKernel::RunChunk(int64_t runs) {
  const long preemptions = Preemptions();
  const double cpu_start_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
  const double start_ns = NowNs(CLOCK_MONOTONIC);
  for (int64_t run = 0; run < runs; ++run) {
    runner_.BindView(bindings_[next_].data());
    if (++next_ == bindings_.size()) next_ = 0;
    runner_.Run(HONE_PHASE_RUN);
  }
  Chunk chunk;
  chunk.wall_ns = NowNs(CLOCK_MONOTONIC) - start_ns;
  const double cpu_ns = NowNs(CLOCK_THREAD_CPUTIME_ID) - cpu_start_ns;
  chunk.excess = chunk.wall_ns / std::max(cpu_ns, 1.0) - 1;
  chunk.is_clean = Preemptions() == preemptions && chunk.excess <= kMaxExcess;
  return chunk;
}

double TimedKernel::Calibrate() { return RunCalibrator(); }

}  // namespace hone::measure
