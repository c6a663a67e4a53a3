// A module on an OpenCL device: its programs, which the device's driver builds.
#ifndef HONE_RUNTIME_OPENCL_OPENCL_MODULE_H_
#define HONE_RUNTIME_OPENCL_OPENCL_MODULE_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/opencl/device.h"

namespace hone::opencl {

class OpenClModule final : public LoadedModule {
 public:
  // `module` and `device` must outlive the result. Null with a sentence in *error if the module is
  // not for OpenCL or asks for more than the device has, if the driver refuses its code, or if
  // memory is short.
  static std::unique_ptr<OpenClModule> Make(const Module& module, OpenClDevice& device,
                                            std::string* error);
  ~OpenClModule() override;
  OpenClModule(const OpenClModule&) = delete;
  OpenClModule& operator=(const OpenClModule&) = delete;

  void* parameters() const override { return parameters_ ? parameters_->data() : nullptr; }
  std::unique_ptr<LaunchSequence> MakeSequence(const SequencePlan& plan,
                                               std::string* error) override;

  OpenClDevice& device() const { return device_; }
  cl_program program(uint32_t code) const { return programs_[code]; }

 private:
  OpenClModule(const Module& module, OpenClDevice& device) : module_(module), device_(device) {}
  bool FitsDevice(std::string* error) const;
  bool Build(const hone_device_code& code, std::string* error);
  bool LoadParameters(std::string* error);

  const Module& module_;
  OpenClDevice& device_;
  std::vector<cl_program> programs_;  // by index of the code
  std::unique_ptr<DeviceMemory> parameters_;
};

}  // namespace hone::opencl

#endif  // HONE_RUNTIME_OPENCL_OPENCL_MODULE_H_
