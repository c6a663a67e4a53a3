#include "runtime/model.h"

#include <cstring>
#include <utility>

namespace hone {
namespace {

bool SameShape(const hone_value& a, const hone_value& b) { return ShapeOf(a) == ShapeOf(b); }

// What both specialisations have in the same shape goes along; `from` keeps no binding.
void TakeOver(Executor& from, Executor& to) {
  const hone_function& old = from.function();
  for (uint32_t i = 0; i < old.input_count; ++i) {
    if (SameShape(old.inputs[i], to.function().inputs[i])) {
      if (from.IsInputBound(i)) {
        to.BindInput(i, from.Input(i));
      } else if (old.inputs[i].size_bytes > 0) {
        std::memcpy(to.Input(i), from.Input(i), old.inputs[i].size_bytes);
      }
    }
    from.BindInput(i, nullptr);
  }
  for (uint32_t i = 0; i < old.output_count; ++i) {
    if (from.IsOutputBound(i) && SameShape(old.outputs[i], to.function().outputs[i])) {
      to.BindOutput(i, from.Output(i));
    }
    from.BindOutput(i, nullptr);
  }
}

}  // namespace

Model::Model(std::unique_ptr<Module> module, int threads)
    : module_(std::move(module)),
      team_(std::make_shared<ThreadTeam>(threads)),
      executors_(module_->table().function_count),
      given_(module_->table().functions[0].input_count) {}

std::unique_ptr<Model> Model::Make(std::unique_ptr<Module> module, int threads,
                                   std::string* error) {
  std::unique_ptr<Model> model(new Model(std::move(module), threads));
  model->executors_[0] =
      Executor::Make(*model->module_, model->table().functions[0], model->team_, error);
  if (!model->executors_[0]) return nullptr;
  return model;
}

Model::Result Model::Choose(uint32_t specialisation, std::string* error) {
  if (specialisation >= table().function_count) {
    *error = "expected a specialisation below " + std::to_string(table().function_count) +
             ", found " + std::to_string(specialisation);
    return Result::kNoSuchShape;
  }
  const Result result = SwitchTo(specialisation, error);
  for (uint32_t i = 0; result == Result::kChosen && i < given_.size(); ++i) {
    if (given_[i] && *given_[i] != ShapeOf(function().inputs[i])) given_[i].reset();
  }
  return result;
}

Model::Result Model::SwitchTo(uint32_t specialisation, std::string* error) {
  if (specialisation == chosen_) return Result::kChosen;
  std::unique_ptr<Executor>& next = executors_[specialisation];
  if (!next) next = Executor::Make(*module_, table().functions[specialisation], team_, error);
  if (!next) return Result::kNoMemory;
  TakeOver(executor(), *next);
  chosen_ = specialisation;
  return Result::kChosen;
}

uint32_t Model::BestFor(uint32_t input, const InputShape& shape) const {
  uint32_t best = table().function_count;
  int best_score = -1;
  for (uint32_t f = 0; f < table().function_count; ++f) {
    const hone_function& candidate = table().functions[f];
    if (ShapeOf(candidate.inputs[input]) != shape) continue;
    int score = 0;
    for (uint32_t i = 0; i < candidate.input_count; ++i) {
      score += i != input && given_[i] && *given_[i] == ShapeOf(candidate.inputs[i]) ? 1 : 0;
    }
    if (score > best_score) best = f;
    best_score = score > best_score ? score : best_score;
  }
  return best;
}

Model::Result Model::ChooseShape(uint32_t input, const InputShape& shape, std::string* error) {
  if (ShapeOf(function().inputs[input]) == shape) return Result::kChosen;
  const uint32_t best = BestFor(input, shape);
  if (best < table().function_count) return SwitchTo(best, error);
  std::string found;
  for (const int64_t extent : shape) found += (found.empty() ? "" : ",") + std::to_string(extent);
  *error = "expected inputs of the shapes the module was compiled for (" + ShapesText(table()) +
           "), found " + function().inputs[input].name + "=" + found;
  return Result::kNoSuchShape;
}

bool Model::CanRun(std::string* error) const {
  for (uint32_t i = 0; i < given_.size(); ++i) {
    if (!given_[i] || *given_[i] == ShapeOf(function().inputs[i])) continue;
    *error =
        "expected input " + std::string(function().inputs[i].name) +
        " in the shape of the specialisation that the others chose (" + ShapesText(function()) +
        "), found that it was given in another; the module was compiled for " + ShapesText(table());
    return false;
  }
  return true;
}

}  // namespace hone
