#include "compiler/schedule/primitives/stage.h"

#include "fmt/format.h"

namespace hone::schedule {
namespace {

constexpr std::string_view kInit = "_init";

}  // namespace

Loop::Loop(std::string_view stage, std::string_view word)
    : name_(fmt::format("{}.{}", stage, word)), stage_size_(stage.size()) {}

std::string_view Loop::stage() const { return std::string_view(name_).substr(0, stage_size_); }

std::string_view Loop::word() const {
  return std::string_view(name_).substr(stage_size_ == 0 ? 0 : stage_size_ + 1);
}

Loop Loop::Init() const {
  if (is_init_) return *this;
  Loop init = *this;
  init.name_ += kInit;
  init.is_init_ = true;
  return init;
}

Loop Loop::WithoutInit() const {
  Loop update = *this;
  if (is_init_) update.name_.resize(name_.size() - kInit.size());
  update.is_init_ = false;
  return update;
}

Loop Loop::Part(std::string_view word) const {
  Loop part = WithoutInit();
  part.name_ += fmt::format(".{}", word);
  return is_init_ ? part.Init() : part;
}

Loop Stage::Axis(size_t axis) const { return Named(fmt::format("i{}", axis)); }

std::vector<Loop> Stage::Axes(size_t rank) const {
  std::vector<Loop> axes;
  for (size_t axis = 0; axis < rank; ++axis) axes.push_back(Axis(axis));
  return axes;
}

Loop Stage::Reduction(size_t step) const { return Named(fmt::format("r{}", step)); }

bool Stage::Owns(std::string_view loop) const {
  return loop.size() > buffer_.size() && loop.starts_with(buffer_) && loop[buffer_.size()] == '.';
}

std::string Stage::NameIn(const Stage& other, const std::string& loop) const {
  return Owns(loop) ? other.buffer_ + loop.substr(buffer_.size()) : loop;
}

Stage Stage::Init() const {
  Stage init = *this;
  init.is_init_ = true;
  return init;
}

Loop Stage::Named(std::string_view word) const {
  const Loop loop(buffer_, word);
  return is_init_ ? loop.Init() : loop;
}

}  // namespace hone::schedule
