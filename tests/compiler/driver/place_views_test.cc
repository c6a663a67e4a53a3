// Where moves' values lie, of graphs that are numbers only: how much memory joins may take.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/driver/views.h"
#include "support/random.h"

namespace hone::driver {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kAligned = 64;

// Kernels and moves in execution order. Sizes in bytes.
class Calls {
 public:
  int Input() { return Add(kAligned, Value::Kind::kInput); }
  int Kernel(std::vector<int> reads, uint64_t bytes) {
    const int result = Add(bytes, Value::Kind::kIntermediate);
    graph_.calls.push_back({.kernel = 0, .args = std::move(reads), .results = {result}});
    return result;
  }
  void Output(std::vector<int> reads) {
    const int result = Kernel(std::move(reads), kAligned);
    graph_.values[static_cast<size_t>(result)].kind = Value::Kind::kOutput;
  }
  int Join(const std::vector<int>& parts) {
    std::vector<passes::Piece> pieces;
    uint64_t bytes = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      pieces.push_back({.operand = i, .begin = 0, .size = SizeOf(parts[i])});
      bytes += SizeOf(parts[i]);
    }
    return Moved(parts, bytes, std::move(pieces));
  }
  int Slice(int of, uint64_t begin, uint64_t bytes) {
    return Moved({of}, bytes, {{.operand = 0, .begin = begin, .size = bytes}});
  }

  uint64_t SizeOf(int value) const {
    return SizeBytesOf(graph_.values[static_cast<size_t>(value)]);
  }

  struct Outcome {
    int joined = 0;
    int copied = 0;      // joins that are not
    uint64_t peak = 0;   // of what is alive at once
    uint64_t apart = 0;  // the same where all joins copy
  };
  Outcome Place() const {
    Specialisation graph = graph_;
    const std::vector<bool> gone = PlaceViews(moves_, &graph);
    Outcome outcome;
    std::vector<Move> others;
    for (size_t i = 0; i < moves_.size(); ++i) {
      const bool joins = moves_[i].pieces.size() > 1;
      if (!joins) others.push_back(moves_[i]);
      outcome.joined += joins && gone[i] ? 1 : 0;
      outcome.copied += joins && !gone[i] ? 1 : 0;
    }
    outcome.peak = PeakOf(graph);
    graph = graph_;
    PlaceViews(others, &graph);
    outcome.apart = PeakOf(graph);
    return outcome;
  }

 private:
  int Add(uint64_t bytes, Value::Kind kind) {
    Value value{.kind = kind,
                .name = "",
                .type = {{static_cast<int64_t>(bytes)}, DataType::kInt8},
                .layout = Layout::RowMajor(1),
                .data = {}};
    graph_.values.push_back(std::move(value));
    return static_cast<int>(graph_.values.size()) - 1;
  }
  int Moved(std::vector<int> reads, uint64_t bytes, std::vector<passes::Piece> pieces) {
    moves_.push_back({.call = graph_.calls.size(), .pieces = std::move(pieces)});
    return Kernel(std::move(reads), bytes);
  }

  static uint64_t PeakOf(const Specialisation& graph) {
    std::vector<passes::PlannedCall> calls;
    for (const KernelCall& call : graph.calls) {
      calls.push_back({.reads = call.args, .writes = call.results, .workspace_bytes = 0});
    }
    return passes::PeakLiveBytes(PlannedValuesOf(graph.values), calls);
  }

  Specialisation graph_;
  std::vector<Move> moves_;
};

// 4 MiB that wait for `rest` to be joined with, while 96 MiB are needed: 100 with a copy, and with
// a join 100 MiB and the rest.
void AddLongSkip(Calls& calls, int input, uint64_t rest) {
  const int few = calls.Kernel({input}, 4 * kMiB);
  calls.Output({calls.Kernel({input}, 96 * kMiB)});
  calls.Output({calls.Join({few, calls.Kernel({input}, rest)})});
}

TEST(PlaceViews, JoinsTakeAQuarterMoreAndNoMore) {
  for (const uint64_t more : {uint64_t{0}, kAligned}) {
    Calls calls;
    AddLongSkip(calls, calls.Input(), 25 * kMiB + more);
    const Calls::Outcome outcome = calls.Place();
    EXPECT_EQ(outcome.apart, 100 * kMiB);
    EXPECT_EQ(outcome.peak, more == 0 ? 125 * kMiB : 100 * kMiB);
    EXPECT_EQ(outcome.joined, more == 0 ? 1 : 0);
  }
}

// 100 MiB move as a whole, and again: they are one value, and no reason for joins to take twice
// that.
TEST(PlaceViews, MovesThatNeedNoCopyGiveJoinsNoMemory) {
  for (const uint64_t more : {uint64_t{0}, kAligned}) {
    Calls calls;
    const int input = calls.Input();
    const int once = calls.Slice(calls.Kernel({input}, 100 * kMiB), 0, 100 * kMiB);
    calls.Output({calls.Slice(once, 0, 100 * kMiB)});
    AddLongSkip(calls, input, 25 * kMiB + more);
    const Calls::Outcome outcome = calls.Place();
    EXPECT_EQ(outcome.apart, 100 * kMiB);
    EXPECT_EQ(outcome.joined, more == 0 ? 1 : 0);
  }
}

// A slice of a part has the part live on, and where that is joined, the whole.
TEST(PlaceViews, SlicesOfPartsKeepWhatTheyAreJoinedTo) {
  for (const uint64_t more : {uint64_t{0}, kAligned}) {
    Calls calls;
    const int input = calls.Input();
    const int few = calls.Kernel({input}, 4 * kMiB);
    const int slice = calls.Slice(few, kMiB, kMiB);
    calls.Output({calls.Join({few, calls.Kernel({input}, 25 * kMiB + more)})});
    calls.Output({calls.Kernel({input}, 96 * kMiB), slice});
    const Calls::Outcome outcome = calls.Place();
    EXPECT_EQ(outcome.apart, 100 * kMiB);
    EXPECT_EQ(outcome.joined, more == 0 ? 1 : 0);
  }
}

// Kernels, slices, moves of whole values and joins of what is there.
Calls RandomCalls(uint64_t seed) {
  Random random(seed);
  Calls calls;
  const int input = calls.Input();
  std::vector<int> values = {calls.Kernel({input}, 8 * kMiB)};
  const auto pick = [&] {
    return values[values.size() - 1 - random.Below(std::min<size_t>(values.size(), 6))];
  };
  for (int i = 0; i < 40; ++i) {
    const int x = pick();
    const int y = values[random.Below(values.size())];
    switch (random.Below(6)) {
      case 0:
        values.push_back(calls.Slice(x, 0, calls.SizeOf(x)));
        break;
      case 1:
        values.push_back(calls.Slice(x, calls.SizeOf(x) / 4 / kAligned * kAligned,
                                     calls.SizeOf(x) / 2 / kAligned * kAligned));
        break;
      case 2:
      case 3:
        values.push_back(calls.Join({y, x}));
        break;
      default:
        values.push_back(calls.Kernel({x, pick()}, (1 + random.Below(32)) * kMiB));
    }
    if (random.Below(8) == 0) calls.Output({pick()});
  }
  calls.Output({values.back()});
  return calls;
}

TEST(PlaceViews, OfRandomCallsTheBoundHolds) {
  int joined = 0;
  int copied = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Calls::Outcome outcome = RandomCalls(seed).Place();
    EXPECT_LE(outcome.peak, outcome.apart + std::max(outcome.apart / 4, kMiB)) << seed;
    joined += outcome.joined;
    copied += outcome.copied;
  }
  EXPECT_GT(joined, 1000);
  EXPECT_GT(copied, 1000);
}

}  // namespace
}  // namespace hone::driver
