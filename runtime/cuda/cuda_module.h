// A module on a GPU of NVIDIA: its codes in PTX, compiled by the driver for that GPU.
#ifndef HONE_RUNTIME_CUDA_CUDA_MODULE_H_
#define HONE_RUNTIME_CUDA_CUDA_MODULE_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_device.h"

namespace hone::cuda {

class CudaModule final : public LoadedModule {
 public:
  // Device and module outlive the result. Null with a sentence in *error if the driver refuses a
  // code or memory is short.
  static std::unique_ptr<CudaModule> Make(const Module& module, CudaDevice& device,
                                          std::string* error);
  ~CudaModule() override;
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  void* parameters() const override { return parameters_ ? parameters_->data() : nullptr; }
  std::unique_ptr<LaunchSequence> MakeSequence(const SequencePlan& plan,
                                               std::string* error) override;

  CudaDevice& device() const { return device_; }
  // The launch's function, with as much shared memory as it asks for. Null with a sentence in
  // *error if the code has no such entry.
  Function Find(const hone_device_launch& launch, std::string* error) const;
  // A kernel that does nothing, for the time of a sequence itself.
  Function nothing() const { return nothing_; }

 private:
  CudaModule(const Module& module, CudaDevice& device) : module_(module), device_(device) {}
  bool FitsDevice(std::string* error) const;
  bool Build(const char* ptx, std::string* error);
  bool BuildNothing(std::string* error);
  bool LoadParameters(std::string* error);

  const Module& module_;
  CudaDevice& device_;
  std::vector<DriverModule> modules_;  // by index of the code; the last one has `nothing`
  Function nothing_ = nullptr;
  std::unique_ptr<DeviceMemory> parameters_;
};

}  // namespace hone::cuda

#endif  // HONE_RUNTIME_CUDA_CUDA_MODULE_H_
