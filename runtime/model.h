// A module ready to run: one executor a specialisation, and the choice among them.
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

// Owns the module, and runs all specialisations on one device; the memory of one is there from its
// first choice on. What an input was given last holds wherever its shape fits: its data goes
// along to each specialisation chosen, also past others that have another shape, and its binding
// rests meanwhile. Bindings of outputs go along, or end where shapes differ. Not thread-safe.
class Model {
 public:
  // Starts with specialisation 0. Null, with a sentence in *error, as Device::Load and
  // Executor::Make; `module` is that of a model.
  static std::unique_ptr<Model> Make(std::unique_ptr<Module> module, std::shared_ptr<Device> device,
                                     std::string* error);

  const hone_module& table() const { return module_->table(); }
  uint32_t chosen() const { return chosen_; }
  Device& device() const { return *device_; }
  Executor& executor() const { return *executors_[chosen_]; }
  const hone_function& function() const { return executor().function(); }

  // What kept a choice from being made.
  enum class Result { kChosen, kNoSuchShape, kNoMemory };
  // By its number. Inputs that were given in other shapes are not missed.
  Result Choose(uint32_t specialisation, std::string* error);
  // A specialisation in which the input has this shape: the one chosen now, else the one that fits
  // most of the inputs given before. The caller gives the input's data next.
  Result ChooseShape(uint32_t input, const InputShape& shape, std::string* error);

  // Gives `write` memory of the host to write the input's data to, which is then the chosen
  // specialisation's: it counts as given, and its binding has ended.
  void FillInput(uint32_t input, const std::function<void(void* memory)>& write);
  // As Executor::BindInput, in whatever specialisation has the shape that the chosen one has. Null:
  // back to what the input was filled with.
  void BindInput(uint32_t input, void* data);
  // Whether the inputs given fit the chosen specialisation: one that was given in another shape
  // since is missing.
  bool CanRun(std::string* error) const;
  // Whether every input was given in the shape that the chosen specialisation has; else the
  // sentence names those that were not.
  bool AllGiven(std::string* error) const;

 private:
  Model(std::unique_ptr<Module> module, std::shared_ptr<Device> device);
  // An input as it was given last; neither `filled` nor `bound` has a value before.
  struct Given {
    struct Filled {
      InputShape shape;
      uint32_t holder;  // the specialisation in whose own memory the data lies
    };
    struct Bound {
      InputShape shape;
      void* data;
    };
    std::optional<Filled> filled;
    std::optional<Bound> bound;  // comes before `filled`
    bool fits = true;            // the chosen specialisation, if it was given
    bool excused = false;        // a choice by number stands where it does not fit

    const InputShape* shape() const;
  };

  std::unique_ptr<Executor> MakeExecutor(uint32_t specialisation, std::string* error) const;
  Result SwitchTo(uint32_t specialisation, std::string* error);
  // Brings what the input was given into the chosen specialisation, where it fits.
  void Bring(uint32_t input);
  uint32_t BestFor(uint32_t input, const InputShape& shape) const;

  std::unique_ptr<Module> module_;
  const std::shared_ptr<Device> device_;
  std::shared_ptr<LoadedModule> loaded_;
  std::vector<std::unique_ptr<Executor>> executors_;  // null until chosen
  std::vector<Given> given_;                          // one an input
  uint32_t chosen_ = 0;
};

}  // namespace hone

#endif  // HONE_RUNTIME_MODEL_H_
