// Random sequences of primitives, legal or refused, never change what a nest computes.
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/annotate.h"
#include "compiler/schedule/primitives/cache_write.h"
#include "compiler/schedule/primitives/compute_at.h"
#include "compiler/schedule/primitives/fission.h"
#include "compiler/schedule/primitives/inline_stage.h"
#include "compiler/schedule/primitives/join_axes.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/pack.h"
#include "compiler/schedule/primitives/peel.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/set_layout.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/unroll_steps.h"
#include "compiler/schedule/primitives/unswitch.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/test_nests.h"

namespace hone::schedule {
namespace {

class RandomSchedule {
 public:
  RandomSchedule(loop::Nest nest, uint64_t seed) : nest_(std::move(nest)), random_(seed) {}

  // One primitive with random arguments. Whether it was legal.
  bool Step() {
    const Loop loop(AnyLoop());
    const std::string buffer = AnyBuffer();
    const int64_t factor = 1 + static_cast<int64_t>(random_.Below(5));
    const auto applied = [&](const std::string& what, const absl::Status& status) {
      if (status.ok()) {
        log_ += what + "\n";
        ++applied_;
      }
      return status.ok();
    };
    switch (random_.Below(15)) {
      case 0:
      case 1: {
        const Tail tail = random_.Below(2) == 0 ? Tail::kClip : Tail::kGuard;
        return applied(
            fmt::format("split {} by {} {}", loop.name(), factor, static_cast<int>(tail)),
            Split(&nest_, loop, factor, tail));
      }
      case 2:
        return applied("peel " + loop.name(),
                       Peel(&nest_, loop, static_cast<int64_t>(random_.Below(2)),
                            static_cast<int64_t>(random_.Below(2))));
      case 3:
        return applied("inline " + buffer, InlineStage(&nest_, Stage(buffer)));
      case 4:
      case 5:
        return applied("compute " + buffer + " at " + loop.name(),
                       ComputeAt(&nest_, Stage(buffer), loop, {loop::Scope::kLocal, {}, ""}));
      case 6:
        return applied("decompose " + loop.name(), DecomposeReduction(&nest_, loop));
      case 7: {
        const Loop other(AnyLoop());
        if (other == loop) return false;
        return applied("reorder " + loop.name() + " " + other.name(),
                       Reorder(&nest_, {loop, other}, true));
      }
      case 8:
        return applied("vectorize " + loop.name(), Vectorize(&nest_, loop));
      case 9:
        return applied("parallel " + loop.name(), Parallel(&nest_, loop));
      case 10:
        return applied("unswitch " + loop.name(), Unswitch(&nest_, loop));
      case 11:
        return applied("cache_write " + buffer, buffer.ends_with(".acc")
                                                    ? absl::CancelledError()
                                                    : CacheWrite(&nest_, Stage(buffer)).status());
      case 12:
        return applied(fmt::format("unroll {} steps of {}", factor, loop.name()),
                       UnrollSteps(&nest_, loop, factor));
      case 13:
        return applied("join the last axes of " + buffer, JoinLastAxes(&nest_, buffer));
      default: {
        const loop::Buffer target = BufferNamed(buffer);
        const int rank = static_cast<int>(target->shape.size());
        std::string text = Layout::RowMajor(rank).ToString();
        const size_t axis = random_.Below(text.size());
        text += fmt::format("{}{}", 1 + factor, static_cast<char>(std::tolower(text[axis])));
        const Layout layout = *Layout::Parse(text, rank);
        const bool parameter =
            target->role == loop::Role::kInput || target->role == loop::Role::kConstant;
        if (parameter) {
          if (buffer.ends_with(".packed")) return false;
          return applied("pack " + buffer + " " + text, Pack(&nest_, buffer, layout).status());
        }
        return applied("layout " + buffer + " " + text, SetLayout(&nest_, buffer, layout));
      }
    }
  }

  const loop::Nest& nest() const { return nest_; }
  const std::string& log() const { return log_; }
  int applied() const { return applied_; }

 private:
  std::string AnyLoop() {
    std::vector<std::string> names;
    for (const loop::Launch& launch : nest_.launches) {
      for (const loop::Stmt& loop : loop::CollectLoops(launch.body)) {
        names.push_back(loop->var->name);
      }
    }
    return names.empty() ? "none" : names[random_.Below(names.size())];
  }
  std::string AnyBuffer() { return nest_.buffers[random_.Below(nest_.buffers.size())]->name; }
  loop::Buffer BufferNamed(const std::string& name) { return *FindBuffer(nest_, name); }

  loop::Nest nest_;
  Random random_;
  std::string log_;
  int applied_ = 0;
};

TEST(PrimitivesProperty, RandomSequencesKeepTheResult) {
  int applied = 0;
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
    applied += schedule.applied();
  }
  EXPECT_GT(applied, 6000);
}

}  // namespace
}  // namespace hone::schedule
