#include "compiler/schedule/rewrite/fuse_stages.h"

#include "compiler/schedule/rewrite/stage_schedule.h"

namespace hone::schedule {

Stage FuseAroundAnchor(Sequence* s, const AnchorView& view, const std::string& kept) {
  for (const std::string& stage : view.prologue) {
    if (stage != kept) s->Inline(Stage(stage));
  }
  const Stage anchor =
      view.anchor_is_output ? s->CacheWrite(Stage(view.output)) : Stage(view.anchor);
  for (const std::string& stage : view.epilogue) s->Inline(Stage(stage));
  return anchor;
}

void SetSignatureLayouts(Sequence* s, const Task& task) {
  const std::vector<loop::Buffer> inputs = InputsOf(task.def->naive);
  const std::vector<loop::Buffer> outputs = OutputsOf(task.def->naive);
  for (size_t i = 0; i < inputs.size(); ++i) {
    s->SetLayout(inputs[i]->name, task.signature.operands[i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    s->SetLayout(outputs[i]->name, task.signature.results[i]);
  }
}

void ScheduleDataStage(Sequence* s, const Stage& stage, int64_t lanes) {
  StageOptions options;
  options.lanes = lanes;
  options.grid = 3;
  options.turn = true;
  ScheduleStage(s, stage, options);
}

void PackChannelsTogether(Sequence* s, const std::string& weight, int rank, int axis,
                          int64_t channels) {
  if (channels > 1) s->Pack(weight, BlockedLayout(rank, axis, channels));
}

}  // namespace hone::schedule
