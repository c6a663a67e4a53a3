// A module ready to run: one executor a specialisation, and the choice among them.
#ifndef HONE_RUNTIME_MODEL_H_
#define HONE_RUNTIME_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/executor.h"
#include "runtime/module.h"
#include "runtime/specialisation.h"

namespace hone {

// Owns the module, and one team of threads for all specialisations; the memory of one is there from
// its first choice on. Inputs that stay as they were go along when another is chosen, bindings too;
// bindings of inputs and outputs whose shapes differ end. Not thread-safe.
class Model {
 public:
  // Starts with specialisation 0. Null, with a sentence in *error, as Executor::Make; `module` is
  // that of a model.
  static std::unique_ptr<Model> Make(std::unique_ptr<Module> module, int threads,
                                     std::string* error);

  const hone_module& table() const { return module_->table(); }
  uint32_t chosen() const { return chosen_; }
  Executor& executor() const { return *executors_[chosen_]; }
  const hone_function& function() const { return executor().function(); }

  // What kept a choice from being made.
  enum class Result { kChosen, kNoSuchShape, kNoMemory };
  // By its number. Inputs that were given in other shapes count as not given.
  Result Choose(uint32_t specialisation, std::string* error);
  // A specialisation in which the input has this shape: the one chosen now, else the one that fits
  // most of the inputs given before. The caller gives the input's data next.
  Result ChooseShape(uint32_t input, const InputShape& shape, std::string* error);

  // The input has its data, in the shape that the chosen specialisation has.
  void MarkGiven(uint32_t input) { given_[input] = ShapeOf(function().inputs[input]); }
  // Whether the inputs given fit the chosen specialisation: one that was given in another shape
  // since is missing.
  bool CanRun(std::string* error) const;

 private:
  Model(std::unique_ptr<Module> module, int threads);
  Result SwitchTo(uint32_t specialisation, std::string* error);
  uint32_t BestFor(uint32_t input, const InputShape& shape) const;

  std::unique_ptr<Module> module_;
  std::shared_ptr<ThreadTeam> team_;
  std::vector<std::unique_ptr<Executor>> executors_;  // null until chosen
  std::vector<std::optional<InputShape>> given_;      // of each input, as it was given last
  uint32_t chosen_ = 0;
};

}  // namespace hone

#endif  // HONE_RUNTIME_MODEL_H_
