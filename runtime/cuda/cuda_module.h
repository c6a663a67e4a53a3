// A module on an NVIDIA GPU: its PTX, which the driver compiles for that GPU.
#ifndef HONE_RUNTIME_CUDA_CUDA_MODULE_H_
#define HONE_RUNTIME_CUDA_CUDA_MODULE_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_device.h"

namespace hone::cuda {

class CudaModule final : public LoadedModule {
 public:
  // `module` and `device` must outlive the result. Null with a sentence in *error if the module is
  // not for CUDA or asks for more threads or shared memory than the device has, if the driver
  // refuses its code, or if memory is short.
  static std::unique_ptr<CudaModule> Make(const Module& module, CudaDevice& device,
                                          std::string* error);
  ~CudaModule() override;
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  void* parameters() const override { return parameters_ ? parameters_->data() : nullptr; }
  std::unique_ptr<LaunchSequence> MakeSequence(const SequencePlan& plan,
                                               std::string* error) override;

  CudaDevice& device() const { return device_; }
  // The launch's function, allowed as much shared memory as the launch asks for. Null with a
  // sentence in *error if the code has no such entry, or if the driver refuses that much memory.
  Function Find(const hone_device_launch& launch, std::string* error) const;
  // A kernel that does nothing. Sequences launch it to time their own overhead.
  Function nothing() const { return nothing_; }

 private:
  CudaModule(const Module& module, CudaDevice& device) : module_(module), device_(device) {}
  bool FitsDevice(std::string* error) const;
  bool Build(const char* ptx, std::string* error);
  bool BuildNothing(std::string* error);
  bool LoadParameters(std::string* error);

  const Module& module_;
  CudaDevice& device_;
  std::vector<DriverModule> modules_;  // by index of the code; the last one has nothing_
  Function nothing_ = nullptr;
  std::unique_ptr<DeviceMemory> parameters_;
};

}  // namespace hone::cuda

#endif  // HONE_RUNTIME_CUDA_CUDA_MODULE_H_
