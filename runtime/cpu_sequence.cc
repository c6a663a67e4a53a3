#include "runtime/cpu_sequence.h"

#include <algorithm>
#include <chrono>

namespace hone {
namespace {

// Rows of a long sequence come from memory, each too short for processors to see that they follow
// one another. Longer ones are streams of their own.
constexpr uint64_t kMostPrefetchedBytes = 16 << 10;

void Prefetch(const uint8_t* begin, uint64_t bytes) {
  constexpr int kToRead = 0;
  constexpr int kSecondCache = 2;
  for (uint64_t at = 0; at < bytes; at += HONE_BUFFER_ALIGNMENT) {
    __builtin_prefetch(begin + at, kToRead, kSecondCache);
  }
}

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// From `trip` to the next. What a buffer holds in the trip after the next is fetched.
inline void MoveBuffers(const SequenceRepeat& repeat, int64_t trip, void** pointers) {
  if (trip == 0) {
    for (const SequenceMove& move : repeat.moves)
      pointers[move.buffer - repeat.first_buffer] = move.next;
    return;
  }
  const bool back = trip % 2 == 0;
  for (const SequenceMove& move : repeat.moves) {
    void*& pointer = pointers[move.buffer - repeat.first_buffer];
    const int64_t stride = move.stride_bytes;
    uint8_t* const moved =
        static_cast<uint8_t*>(pointer) + (move.alternates && back ? -stride : stride);
    pointer = moved;
    if (!move.alternates) {
      Prefetch(moved + stride, std::min(move.size_bytes, kMostPrefetchedBytes));
    }
  }
}

}  // namespace

CpuSequence::CpuSequence(ThreadTeam& team, const std::vector<Memory>& scratch,
                         const SequencePlan& plan)
    : team_(team), scratch_(scratch), plan_(plan) {
  for (const SequenceStep& step : plan.steps) {
    steps_.push_back(
        {LaunchStep::Of(*step.launch, step.wants_barrier), step.first_buffer, step.call});
  }
  size_t most_buffers = 0;
  for (const SequenceRepeat& repeat : plan.repeats) {
    most_buffers = std::max(most_buffers, repeat.end_buffer - repeat.first_buffer);
  }
  if (most_buffers > 0) {
    moving_.assign(static_cast<size_t>(team_.threads()), std::vector<void*>(most_buffers));
  }
  PlanBarriers();
}

// The first step of a repeat comes after the last, too: what holds behind either is what it has to
// count on, and two rounds tell.
void CpuSequence::PlanBarriers() {
  BarrierPlan barriers;
  size_t s = 0;
  const auto plan_to = [&](size_t end) {
    for (; s < end; ++s) steps_[s].launch = steps_[s].launch.Planned(barriers);
  };
  for (const SequenceRepeat& repeat : plan_.repeats) {
    plan_to(repeat.first_step);
    for (int round = 0; round < 2; ++round) {
      const BarrierPlan before = barriers;
      for (size_t i = repeat.first_step; i < repeat.end_step; ++i) {
        steps_[i].launch.Planned(barriers);
      }
      barriers.Join(before);
    }
    plan_to(repeat.end_step);
  }
  plan_to(steps_.size());
}

template <typename RunStep>
inline void CpuSequence::WalkSteps(int thread, const RunStep& run) {
  void* const* const addresses = plan_.addresses;
  size_t s = 0;
  const auto walk_to = [&](size_t end) {
    for (; s < end; ++s) run(steps_[s], addresses + steps_[s].first_buffer);
  };
  for (const SequenceRepeat& repeat : plan_.repeats) {
    walk_to(repeat.first_step);
    if (repeat.first_step == repeat.end_step) continue;
    void** const pointers = moving_[static_cast<size_t>(thread)].data();
    std::copy(addresses + repeat.first_buffer, addresses + repeat.end_buffer, pointers);
    for (int64_t trip = 0; trip < repeat.trips; ++trip) {
      for (s = repeat.first_step; s < repeat.end_step; ++s) {
        run(steps_[s], pointers + (steps_[s].first_buffer - repeat.first_buffer));
      }
      if (trip + 1 < repeat.trips) MoveBuffers(repeat, trip, pointers);
    }
  }
  walk_to(steps_.size());
}

void CpuSequence::Walk(int thread) {
  SubnormalMode mode;
  void* const scratch = scratch_[static_cast<size_t>(thread)].data();
  WalkSteps(thread, [&](const Step& step, void* const* buffers) {
    if (step.launch.barrier_before) team_.Barrier();
    step.launch.Run(buffers, thread, team_.threads(), scratch, mode);
  });
}

void CpuSequence::WalkAlone() {
  SubnormalMode mode;
  void* const scratch = scratch_[0].data();
  WalkSteps(0, [&](const Step& step, void* const* buffers) {
    step.launch.RunAll(buffers, scratch, mode);
  });
}

void CpuSequence::Run() {
  if (team_.threads() == 1) return WalkAlone();
  team_.Run([](void* self, int thread) { static_cast<CpuSequence*>(self)->Walk(thread); }, this);
}

double CpuSequence::Time(int64_t runs) {
  const int64_t start_ns = NowNs();
  for (int64_t i = 0; i < runs; ++i) Run();
  return static_cast<double>(NowNs() - start_ns) * 1e-9;
}

double CpuSequence::TimeWithoutKernels(int64_t runs) {
  const std::vector<Step> all = steps_;
  for (Step& step : steps_) step.launch.function = [](void* const*, int64_t, int64_t, void*) {};
  const double seconds = Time(runs);
  steps_ = all;
  return seconds;
}

void CpuSequence::WalkTimed(int thread, std::vector<double>& call_ns) {
  SubnormalMode mode;
  void* const scratch = scratch_[static_cast<size_t>(thread)].data();
  int64_t before_ns = NowNs();
  WalkSteps(thread, [&](const Step& step, void* const* buffers) {
    step.launch.Run(buffers, thread, team_.threads(), scratch, mode);
    team_.Barrier();
    if (thread == 0) {
      const int64_t now_ns = NowNs();
      call_ns[step.call] += static_cast<double>(now_ns - before_ns);
      before_ns = now_ns;
    }
  });
}

void CpuSequence::RunTimed(std::vector<double>& call_ns) {
  struct Context {
    CpuSequence* sequence;
    std::vector<double>* call_ns;
  };
  Context context{this, &call_ns};
  team_.Run(
      [](void* c, int thread) {
        const auto* inner = static_cast<Context*>(c);
        inner->sequence->WalkTimed(thread, *inner->call_ns);
      },
      &context);
}

}  // namespace hone
