// A module ready to run: an executor for each specialisation, and the choice among them.
#ifndef HONE_RUNTIME_MODEL_H_
#define HONE_RUNTIME_MODEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/executor.h"
#include "runtime/module.h"
#include "runtime/specialisation.h"

namespace hone {

// Owns the module, and runs all specialisations on one device. The memory of a specialisation is
// allocated when it is first chosen. What an input was last given, data or a binding, carries over
// to every specialisation chosen later in which the input has the same shape; in the others it is
// suspended, not lost. The binding of an output carries over too, but ends if the output's shape
// changes. Not thread-safe.
class Model {
 public:
  // Starts with specialisation 0. `module` must be of a model, not an artifact. Null with a
  // sentence in *error if Device::Load or Executor::Make fails.
  static std::unique_ptr<Model> Make(std::unique_ptr<Module> module, std::shared_ptr<Device> device,
                                     std::string* error);

  const hone_module& table() const { return module_->table(); }
  uint32_t chosen() const { return chosen_; }
  Device& device() const { return *device_; }
  Executor& executor() const { return *executors_[chosen_]; }
  const hone_function& function() const { return executor().function(); }

  // Whether a choice was made, or why not.
  enum class Result { kChosen, kNoSuchShape, kNoMemory };
  // Chooses a specialisation by its number. CanRun then accepts inputs that were given in other
  // shapes.
  Result Choose(uint32_t specialisation, std::string* error);
  // Chooses a specialisation in which the input has this shape: the present one if it fits,
  // otherwise the one that fits most of the inputs given before. The caller gives the input's data
  // next.
  Result ChooseShape(uint32_t input, const InputShape& shape, std::string* error);

  // Calls `write` once with host memory, to which it must write the input's data. The input then
  // counts as given in the shape of the chosen specialisation, and its binding ends.
  void FillInput(uint32_t input, const std::function<void(void* memory)>& write);
  // Copies the input's data from an address in the device's memory. The device must be shared
  // (Device::is_shared). The input then counts as given, as after FillInput.
  void CopyInput(uint32_t input, const void* device_data);
  // Like Executor::BindInput, but for every specialisation in which the input has its present
  // shape. Null ends the binding: the input then has the data that it was last filled with.
  void BindInput(uint32_t input, void* data);
  // Whether the given inputs fit the chosen specialisation; if not, *error names one that was given
  // in another shape. Inputs that did not fit when a specialisation was chosen by number do not
  // count.
  bool CanRun(std::string* error) const;
  // Whether every input was given in its shape in the chosen specialisation; if not, *error names
  // those that were not.
  bool AllGiven(std::string* error) const;

 private:
  Model(std::unique_ptr<Module> module, std::shared_ptr<Device> device);
  // What an input was last given. Neither `filled` nor `bound` has a value until it is given
  // anything.
  struct Given {
    struct Filled {
      InputShape shape;
      uint32_t holder;  // the specialisation whose own memory has the data
    };
    struct Bound {
      InputShape shape;
      void* data;
    };
    std::optional<Filled> filled;
    std::optional<Bound> bound;  // takes precedence over `filled`
    bool fits = true;      // its shape is that of the chosen specialisation, or it was never given
    bool excused = false;  // it does not fit, but the specialisation was chosen by number

    const InputShape* shape() const;
  };

  // The input counts as given in the shape of the chosen specialisation, and its binding ends.
  void MarkFilled(uint32_t input);
  std::unique_ptr<Executor> MakeExecutor(uint32_t specialisation, std::string* error) const;
  Result SwitchTo(uint32_t specialisation, std::string* error);
  // Brings what the input was given into the chosen specialisation, if it fits.
  void Bring(uint32_t input);
  uint32_t BestFor(uint32_t input, const InputShape& shape) const;

  std::unique_ptr<Module> module_;
  const std::shared_ptr<Device> device_;
  std::shared_ptr<LoadedModule> loaded_;
  std::vector<std::unique_ptr<Executor>> executors_;  // null until chosen
  std::vector<Given> given_;                          // by input
  uint32_t chosen_ = 0;
};

}  // namespace hone

#endif  // HONE_RUNTIME_MODEL_H_
