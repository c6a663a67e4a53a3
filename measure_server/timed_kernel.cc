#include "measure_server/timed_kernel.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "measure_server/calibrator.h"

namespace hone::measure {
namespace {

// The excess of a chunk up to which it is clean; beyond it the thread waited for something.
constexpr double kMaxExcess = 0.01;

double NowNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Counts those of all threads of the process.
long Preemptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

TimedKernel::TimedKernel(const hone_module& table, const hone_kernel& kernel, LoadedModule& loaded,
                         Device& device)
    : kernel_(kernel),
      device_(device),
      runner_(table, kernel, loaded),
      buffers_(device.is_host() ? KernelBuffers::Plain(kernel)
                                : KernelBuffers::OnDevice(kernel, device)) {}

bool TimedKernel::SetUp(uint64_t seed, const KernelBuffers* filled) {
  if (!runner_.ok() || !buffers_.ok()) return false;
  binding_ = buffers_.pointers();
  runner_.BindView(binding_.data());
  if (filled != nullptr) {
    buffers_.CopyFrom(*filled);
  } else {
    buffers_.Fill(seed, InputSet::kFloat);
    runner_.Run(HONE_PHASE_PREPARE);
  }
  return true;
}

bool TimedKernel::RotateConstants(uint64_t fill_bytes, uint64_t limit_bytes) {
  return device_.is_host() &&
         rotation_.SetUp(kernel_, buffers_.pointers(), fill_bytes, limit_bytes);
}

Chunk TimedKernel::RunChunk(int64_t runs) {
  return device_.is_host() ? RunHere(runs) : RunOnDevice(runs);
}

// The thread that feeds the device waits for it most of the time, and says nothing of its times.
Chunk TimedKernel::RunOnDevice(int64_t runs) {
  Chunk chunk;
  chunk.wall_ns = runner_.Time(runs) * 1e9;
  *counter_ = *counter_ + static_cast<uint64_t>(runs);
  return chunk;
}

Chunk TimedKernel::RunHere(int64_t runs) {
  const long preemptions = Preemptions();
  const double cpu_start_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
  const double start_ns = NowNs(CLOCK_MONOTONIC);
  for (int64_t run = 0; run < runs; ++run) {
    rotation_.Rotate(binding_.data());
    runner_.Run(HONE_PHASE_RUN);
    *counter_ = *counter_ + 1;
  }
  Chunk chunk;
  chunk.wall_ns = NowNs(CLOCK_MONOTONIC) - start_ns;
  const double cpu_ns = NowNs(CLOCK_THREAD_CPUTIME_ID) - cpu_start_ns;
  chunk.excess = chunk.wall_ns / std::max(cpu_ns, 1.0) - 1;
  chunk.is_clean = Preemptions() == preemptions && chunk.excess <= kMaxExcess;
  return chunk;
}

double TimedKernel::Calibrate() {
  SpoilOutputs();
  return RunCalibrator();
}

// A few lines of each: more would take time, and be found in other caches than a run leaves them.
void TimedKernel::SpoilOutputs() {
  constexpr uint64_t kLineBytes = 64;
  constexpr uint64_t kMostLines = 16;
  for (uint32_t b = 0; b < kernel_.buffer_count; ++b) {
    if (kernel_.buffers[b].role != HONE_ROLE_OUTPUT) continue;
    const uint64_t size_bytes = kernel_.buffers[b].size_bytes;
    const uint64_t lines = size_bytes / kLineBytes;
    if (lines == 0 && size_bytes > 0) Spoil(b, 0, size_bytes);
    // Each is a copy of its own to a device.
    const uint64_t most = device_.is_host() ? kMostLines : 1;
    const uint64_t step = std::max<uint64_t>(lines / most, 1);
    for (uint64_t line = 0; line < lines; line += step) {
      Spoil(b, line * kLineBytes, kLineBytes);
    }
  }
}

void TimedKernel::Spoil(uint32_t buffer, uint64_t offset, uint64_t size_bytes) {
  constexpr uint64_t kMostBytes = 64;
  static const std::vector<uint8_t> poison(kMostBytes, kPoison);
  device_.CopyIn(static_cast<uint8_t*>(buffers_.pointers()[buffer]) + offset, poison.data(),
                 size_bytes);
}

}  // namespace hone::measure
