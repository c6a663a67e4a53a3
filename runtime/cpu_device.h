// The processor as a device: a team of threads that walks the launches together.
#ifndef HONE_RUNTIME_CPU_DEVICE_H_
#define HONE_RUNTIME_CPU_DEVICE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/thread_team.h"

namespace hone {

// Others may use the team too, but only one user at a time. The device never fails: a fault in
// kernel code ends the whole process.
class CpuDevice final : public Device {
 public:
  explicit CpuDevice(std::shared_ptr<ThreadTeam> team)
      : team_(std::move(team)), scratch_(static_cast<size_t>(team_->threads())) {}

  std::string name() const override { return "cpu"; }
  bool is_host() const override { return true; }
  int threads() const override { return team_->threads(); }
  std::unique_ptr<DeviceMemory> Allocate(uint64_t size_bytes) override;
  void CopyIn(void* to, const void* from_host, uint64_t size_bytes) override;
  void CopyOut(void* to_host, const void* from, uint64_t size_bytes) override;
  void Copy(void* to, const void* from, uint64_t size_bytes) override;
  std::unique_ptr<LoadedModule> Load(const Module& module, std::string* error) override;
  std::string error() const override { return ""; }

  // Makes a sequence of launches, which may be of several open modules. Null with a sentence in
  // *error if there is no memory for the threads' scratch.
  std::unique_ptr<LaunchSequence> MakeSequence(const SequencePlan& plan, std::string* error);

 private:
  bool ReserveScratch(uint64_t size_bytes);

  const std::shared_ptr<ThreadTeam> team_;
  // A block for each thread, large enough for every launch of the sequences made so far.
  std::vector<Memory> scratch_;
};

}  // namespace hone

#endif  // HONE_RUNTIME_CPU_DEVICE_H_
