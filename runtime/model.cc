#include "runtime/model.h"

#include <utility>

#include "runtime/data_type.h"

namespace hone {
namespace {

// "x (float32[2, 3])"
std::string Described(const hone_value& value) {
  std::string extents;
  for (const int64_t extent : ShapeOf(value)) {
    extents += (extents.empty() ? "" : ", ") + std::to_string(extent);
  }
  return std::string(value.name) + " (" + std::string(Name(static_cast<DataType>(value.dtype))) +
         "[" + extents + "])";
}

bool SameShape(const hone_value& a, const hone_value& b) { return ShapeOf(a) == ShapeOf(b); }

// Outputs of the same shape in both stay bound; `from` keeps no binding of an output.
void TakeOutputsOver(Executor& from, Executor& to) {
  const hone_function& old = from.function();
  for (uint32_t i = 0; i < old.output_count; ++i) {
    if (!from.IsOutputBound(i)) continue;
    if (SameShape(old.outputs[i], to.function().outputs[i])) to.BindOutput(i, from.Output(i));
    from.BindOutput(i, nullptr);
  }
}

}  // namespace

Model::Model(std::unique_ptr<Module> module, std::shared_ptr<Device> device)
    : module_(std::move(module)),
      device_(std::move(device)),
      executors_(module_->table().function_count),
      given_(module_->table().functions[0].input_count) {}

std::unique_ptr<Model> Model::Make(std::unique_ptr<Module> module, std::shared_ptr<Device> device,
                                   std::string* error) {
  std::unique_ptr<Model> model(new Model(std::move(module), std::move(device)));
  model->loaded_ = model->device_->Load(*model->module_, error);
  if (!model->loaded_) return nullptr;
  model->executors_[0] = model->MakeExecutor(0, error);
  if (!model->executors_[0]) return nullptr;
  return model;
}

std::unique_ptr<Executor> Model::MakeExecutor(uint32_t specialisation, std::string* error) const {
  return Executor::Make(*module_, table().functions[specialisation], device_, loaded_, error);
}

Model::Result Model::Choose(uint32_t specialisation, std::string* error) {
  if (specialisation >= table().function_count) {
    *error = "expected a specialisation below " + std::to_string(table().function_count) +
             ", found " + std::to_string(specialisation);
    return Result::kNoSuchShape;
  }
  const Result result = SwitchTo(specialisation, error);
  if (result != Result::kChosen) return result;
  for (Given& given : given_) given.excused = !given.fits;
  return result;
}

Model::Result Model::SwitchTo(uint32_t specialisation, std::string* error) {
  if (specialisation == chosen_) return Result::kChosen;
  std::unique_ptr<Executor>& next = executors_[specialisation];
  if (!next) next = MakeExecutor(specialisation, error);
  if (!next) return Result::kNoMemory;
  TakeOutputsOver(executor(), *next);
  for (uint32_t i = 0; i < given_.size(); ++i) {
    if (executor().IsInputBound(i)) executor().BindInput(i, nullptr);
  }
  chosen_ = specialisation;
  for (uint32_t i = 0; i < given_.size(); ++i) Bring(i);
  return Result::kChosen;
}

void Model::Bring(uint32_t input) {
  Given& given = given_[input];
  const hone_value& value = function().inputs[input];
  given.fits = given.shape() == nullptr || *given.shape() == ShapeOf(value);
  if (!given.fits) return;
  given.excused = false;
  if (given.bound) {
    executor().BindInput(input, given.bound->data);
  } else if (given.filled && given.filled->holder != chosen_) {
    // Only the chosen specialisation has bindings: that of the holder is its own memory.
    const Executor& holder = *executors_[given.filled->holder];
    if (value.size_bytes > 0) {
      device_->Copy(executor().Input(input), holder.Input(input), value.size_bytes);
    }
    given.filled->holder = chosen_;
  }
}

const InputShape* Model::Given::shape() const {
  if (bound) return &bound->shape;
  return filled ? &filled->shape : nullptr;
}

void Model::MarkFilled(uint32_t input) {
  if (executor().IsInputBound(input)) executor().BindInput(input, nullptr);
  given_[input] = {};
  given_[input].filled = {ShapeOf(function().inputs[input]), chosen_};
}

void Model::CopyInput(uint32_t input, const void* device_data) {
  MarkFilled(input);
  const uint64_t size_bytes = function().inputs[input].size_bytes;
  if (size_bytes > 0) device_->CopyShared(executor().Input(input), device_data, size_bytes);
}

void Model::FillInput(uint32_t input, const std::function<void(void* memory)>& write) {
  MarkFilled(input);
  if (device_->is_host()) return write(executor().Input(input));
  const uint64_t size_bytes = function().inputs[input].size_bytes;
  std::vector<uint8_t> staged(size_bytes);
  write(staged.data());
  if (size_bytes > 0) device_->CopyIn(executor().Input(input), staged.data(), size_bytes);
}

void Model::BindInput(uint32_t input, void* data) {
  Given& given = given_[input];
  given.bound.reset();
  if (data != nullptr) {
    given.bound = {ShapeOf(function().inputs[input]), data};
  } else if (executor().IsInputBound(input)) {
    executor().BindInput(input, nullptr);
  }
  Bring(input);
}

uint32_t Model::BestFor(uint32_t input, const InputShape& shape) const {
  uint32_t best = table().function_count;
  int best_score = -1;
  for (uint32_t f = 0; f < table().function_count; ++f) {
    const hone_function& candidate = table().functions[f];
    if (ShapeOf(candidate.inputs[input]) != shape) continue;
    int score = 0;
    for (uint32_t i = 0; i < candidate.input_count; ++i) {
      const InputShape* given = given_[i].excused ? nullptr : given_[i].shape();
      score += i != input && given != nullptr && *given == ShapeOf(candidate.inputs[i]) ? 1 : 0;
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
    if (given_[i].fits || given_[i].excused) continue;
    *error =
        "expected input " + std::string(function().inputs[i].name) +
        " in the shape of the specialisation that the others chose (" + ShapesText(function()) +
        "), found that it was given in another; the module was compiled for " + ShapesText(table());
    return false;
  }
  return true;
}

bool Model::AllGiven(std::string* error) const {
  std::string missing;
  for (uint32_t i = 0; i < given_.size(); ++i) {
    if (given_[i].shape() != nullptr && given_[i].fits) continue;
    missing += (missing.empty() ? "" : ", ") + Described(function().inputs[i]);
  }
  if (missing.empty()) return true;
  *error = "expected every input to be set before a run, found none for " + missing +
           "; set what is missing and run again";
  return false;
}

}  // namespace hone
