// Random sequences of primitives, legal or refused, never change what a nest computes.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/annotate.h"
#include "compiler/schedule/primitives/cache_read.h"
#include "compiler/schedule/primitives/cache_write.h"
#include "compiler/schedule/primitives/clone_stage.h"
#include "compiler/schedule/primitives/compute_at.h"
#include "compiler/schedule/primitives/fission.h"
#include "compiler/schedule/primitives/inline_stage.h"
#include "compiler/schedule/primitives/join_axes.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/pack.h"
#include "compiler/schedule/primitives/pad_stage.h"
#include "compiler/schedule/primitives/peel.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/set_layout.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/split_axis.h"
#include "compiler/schedule/primitives/unroll_steps.h"
#include "compiler/schedule/primitives/unswitch.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/test_nests.h"

namespace hone::schedule {
namespace {

// A primitive with random arguments.
struct Attempt {
  std::string arguments;
  absl::Status status;
};

// What the arguments of one attempt are taken from; the nest changes where it is legal.
class Draw {
 public:
  Draw(loop::Nest* nest, Random* random)
      : nest_(nest),
        random_(random),
        loop_(AnyLoop()),
        buffer_(AnyBuffer()),
        factor_(1 + static_cast<int64_t>(random->Below(5))) {}

  loop::Nest* nest() { return nest_; }
  const Loop& loop() const { return loop_; }
  const std::string& buffer() const { return buffer_; }
  int64_t factor() const { return factor_; }
  uint64_t Below(uint64_t count) { return random_->Below(count); }

  Loop AnyLoop() {
    std::vector<std::string> names;
    for (const loop::Launch& launch : nest_->launches) {
      for (const loop::Stmt& loop : loop::CollectLoops(launch.body)) {
        names.push_back(loop->var->name);
      }
    }
    return Loop(names.empty() ? "none" : names[Below(names.size())]);
  }

  std::string AnyAllocated() {
    std::vector<std::string> names;
    for (const loop::Launch& launch : nest_->launches) {
      loop::Walk(launch.body, [&](const loop::Stmt& s) {
        if (s->kind == loop::StmtKind::kAlloc) names.push_back(s->buffer->name);
        return true;
      });
    }
    return names.empty() ? "none" : names[Below(names.size())];
  }

  // Row-major with blocks of some axis of the buffer.
  Layout AnyBlocks() {
    const int rank = static_cast<int>((*FindBuffer(*nest_, buffer_))->shape.size());
    std::string text = Layout::RowMajor(rank).ToString();
    const size_t axis = Below(text.size());
    text += fmt::format("{}{}", 1 + factor_, static_cast<char>(std::tolower(text[axis])));
    return *Layout::Parse(text, rank);
  }

  bool IsParameter() const {
    const loop::Role role = (*FindBuffer(*nest_, buffer_))->role;
    return role == loop::Role::kInput || role == loop::Role::kConstant;
  }

  std::string AnyBuffer() { return nest_->buffers[Below(nest_->buffers.size())]->name; }

 private:
  loop::Nest* nest_;
  Random* random_;
  Loop loop_;
  std::string buffer_;
  int64_t factor_;
};

// What a test would not try: a copy of a copy.
Attempt NotTried() { return {"", absl::CancelledError()}; }

Attempt TryReorder(Draw& draw) {
  const Loop other = draw.AnyLoop();
  if (other == draw.loop()) return NotTried();
  return {draw.loop().name() + " " + other.name(),
          Reorder(draw.nest(), {draw.loop(), other}, true)};
}

Attempt TrySplit(Draw& draw) {
  const Tail tail = draw.Below(2) == 0 ? Tail::kClip : Tail::kGuard;
  return {fmt::format("{} by {} {}", draw.loop().name(), draw.factor(), static_cast<int>(tail)),
          Split(draw.nest(), draw.loop(), draw.factor(), tail)};
}

Attempt TryPeel(Draw& draw) {
  const auto first = static_cast<int64_t>(draw.Below(2));
  const auto last = static_cast<int64_t>(draw.Below(2));
  return {draw.loop().name(), Peel(draw.nest(), draw.loop(), first, last)};
}

Attempt TryCacheWrite(Draw& draw) {
  if (draw.buffer().ends_with(".acc")) return NotTried();
  return {draw.buffer(), CacheWrite(draw.nest(), Stage(draw.buffer())).status()};
}

Attempt TryCacheRead(Draw& draw) {
  if (draw.buffer().ends_with(".cached")) return NotTried();
  const std::string reader = draw.AnyBuffer();
  return {draw.buffer() + " for " + reader,
          CacheRead(draw.nest(), draw.buffer(), Stage(reader)).status()};
}

Attempt TryClone(Draw& draw) {
  if (draw.buffer().ends_with(".again")) return NotTried();
  const std::string reader = draw.AnyBuffer();
  return {draw.buffer() + " for " + reader,
          CloneStage(draw.nest(), Stage(draw.buffer()), Stage(reader)).status()};
}

Attempt TrySplitAxis(Draw& draw) {
  const std::string buffer = draw.AnyAllocated();
  const size_t axis = draw.Below(2);
  return {fmt::format("{} of axis {} of {}", draw.factor(), axis, buffer),
          SplitAxis(draw.nest(), buffer, axis, draw.factor())};
}

template <absl::Status (*primitive)(loop::Nest*, const Stage&, const std::vector<int64_t>&)>
Attempt TryOnLargerShape(Draw& draw) {
  std::vector<int64_t> shape = (*FindBuffer(*draw.nest(), draw.buffer()))->shape;
  if (shape.empty()) return NotTried();
  const size_t axis = draw.Below(shape.size());
  shape[axis] += draw.factor();
  return {fmt::format("{} axis {} by {}", draw.buffer(), axis, draw.factor()),
          primitive(draw.nest(), Stage(draw.buffer()), shape)};
}

Attempt TrySetLayout(Draw& draw) {
  if (draw.IsParameter()) return NotTried();
  const Layout layout = draw.AnyBlocks();
  return {draw.buffer() + " " + layout.ToString(), SetLayout(draw.nest(), draw.buffer(), layout)};
}

Attempt TryPack(Draw& draw) {
  if (!draw.IsParameter() || draw.buffer().ends_with(".packed")) return NotTried();
  const Layout layout = draw.AnyBlocks();
  return {draw.buffer() + " " + layout.ToString(),
          Pack(draw.nest(), draw.buffer(), layout).status()};
}

struct Primitive {
  std::string_view name;
  Attempt (*attempt)(Draw& draw);
  uint64_t weight = 1;  // how often it is tried
};

// What takes a loop, a stage or a buffer, and nothing else.
template <absl::Status (*primitive)(loop::Nest*, const Loop&)>
Attempt TryOnLoop(Draw& draw) {
  return {draw.loop().name(), primitive(draw.nest(), draw.loop())};
}
template <absl::Status (*primitive)(loop::Nest*, const Stage&)>
Attempt TryOnStage(Draw& draw) {
  return {draw.buffer(), primitive(draw.nest(), Stage(draw.buffer()))};
}
template <absl::Status (*primitive)(loop::Nest*, const std::string&)>
Attempt TryOnBuffer(Draw& draw) {
  return {draw.buffer(), primitive(draw.nest(), draw.buffer())};
}

constexpr Primitive kPrimitives[] = {
    {"split", TrySplit, 2},
    {"peel", TryPeel},
    {"inline", TryOnStage<InlineStage>},
    {"compute at",
     [](Draw& draw) -> Attempt {
       return {draw.buffer() + " at " + draw.loop().name(),
               ComputeAt(draw.nest(), Stage(draw.buffer()), draw.loop(),
                         {loop::Scope::kLocal, {}, ""})};
     },
     2},
    {"decompose", TryOnLoop<DecomposeReduction>},
    {"reorder", TryReorder},
    {"vectorize", TryOnLoop<Vectorize>},
    {"parallel", TryOnLoop<Parallel>},
    {"unswitch", TryOnLoop<Unswitch>},
    {"threads", TryOnLoop<Threads>},
    {"cache write", TryCacheWrite},
    {"cache read", TryCacheRead},
    {"pad stage", TryOnLargerShape<PadStage>},
    {"grow stage", TryOnLargerShape<GrowStage>, 2},
    {"unroll steps",
     [](Draw& draw) -> Attempt {
       return {fmt::format("{} of {}", draw.factor(), draw.loop().name()),
               UnrollSteps(draw.nest(), draw.loop(), draw.factor())};
     }},
    {"join the last axes", TryOnBuffer<JoinLastAxes>},
    {"clone", TryClone},
    {"split axis", TrySplitAxis},
    {"set layout", TrySetLayout},
    {"pack", TryPack},
};

const Primitive& AnyPrimitive(Random& random) {
  uint64_t weights = 0;
  for (const Primitive& primitive : kPrimitives) weights += primitive.weight;
  uint64_t at = random.Below(weights);
  for (const Primitive& primitive : kPrimitives) {
    if (at < primitive.weight) return primitive;
    at -= primitive.weight;
  }
  return kPrimitives[0];
}

class RandomSchedule {
 public:
  RandomSchedule(loop::Nest nest, uint64_t seed) : nest_(std::move(nest)), random_(seed) {}

  // One primitive, where it is legal.
  void Step() {
    const Primitive& primitive = AnyPrimitive(random_);
    Draw draw(&nest_, &random_);
    const Attempt attempt = primitive.attempt(draw);
    if (!attempt.status.ok()) return;
    log_ += fmt::format("{} {}\n", primitive.name, attempt.arguments);
    ++applied_[primitive.name];
  }

  const loop::Nest& nest() const { return nest_; }
  const std::string& log() const { return log_; }
  const std::map<std::string_view, int>& applied() const { return applied_; }

 private:
  loop::Nest nest_;
  Random random_;
  std::string log_;
  std::map<std::string_view, int> applied_;
};

TEST(PrimitivesProperty, RandomSequencesKeepTheResult) {
  std::map<std::string_view, int> applied;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const loop::Nest naive = seed % 4 == 0   ? MatmulNest(5, 6, 4)
                             : seed % 4 == 1 ? ConvNest(3, 5, 4)
                             : seed % 4 == 2 ? OneTapNest(3, 2, 5, 4)
                                             : TransposeNest(5, 7);
    RandomSchedule schedule(naive, seed);
    for (int step = 0; step < 24; ++step) schedule.Step();
    ExpectSameResults(naive, schedule.nest(), seed,
                      fmt::format("seed {}\n{}", seed, schedule.log()));
    if (HasFailure()) return;
    for (const auto& [name, count] : schedule.applied()) applied[name] += count;
  }
  for (const Primitive& primitive : kPrimitives) {
    EXPECT_GE(applied[primitive.name], 40) << primitive.name << " was hardly ever legal";
  }
}

}  // namespace
}  // namespace hone::schedule
