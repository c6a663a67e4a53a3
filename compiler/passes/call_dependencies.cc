#include "compiler/passes/call_dependencies.h"

#include "runtime/launch_dependencies.h"

namespace hone::passes {
namespace {

// As if every value that no other holds had memory of its own.
class SeparateMemory {
 public:
  explicit SeparateMemory(const std::vector<PlannedValue>& values) : values_(values) {
    uintptr_t next = 0;
    for (const PlannedValue& value : values) {
      begins_.push_back(next);
      if (value.within < 0) next += value.bytes;
    }
  }

  std::vector<MemoryAccess> AccessesOf(const PlannedCall& call) const {
    std::vector<MemoryAccess> accesses;
    for (const int value : call.reads) Add(value, call, /*writes=*/false, &accesses);
    for (const int value : call.writes) Add(value, call, /*writes=*/true, &accesses);
    return accesses;
  }

 private:
  void Add(int value, const PlannedCall& call, bool writes,
           std::vector<MemoryAccess>* accesses) const {
    const Place place = PlaceOf(values_, value);
    if (call.repeat < 0) {
      const uintptr_t begin = begins_[place.value] + place.offset_bytes;
      accesses->push_back({begin, begin + values_[value].bytes, writes});
      return;
    }
    // Over its trips, a call may come to all of what its values lie in.
    for (const int64_t trip : {0, 1}) {
      const int holder = PlaceInTrip(values_, value, trip).value;
      accesses->push_back({begins_[holder], begins_[holder] + values_[holder].bytes, writes});
    }
  }

  const std::vector<PlannedValue>& values_;
  std::vector<uintptr_t> begins_;
};

}  // namespace

CallDependencies::CallDependencies(const std::vector<PlannedValue>& values,
                                   const std::vector<PlannedCall>& calls)
    : after_(calls.size(), CallSet(calls.size())) {
  const SeparateMemory memory(values);
  AccessHistory history;
  std::vector<std::vector<size_t>> depends_on;
  for (size_t call = 0; call < calls.size(); ++call) {
    depends_on.push_back(history.Add(memory.AccessesOf(calls[call])));
    const bool follows =
        call > 0 && calls[call].repeat >= 0 && calls[call].repeat == calls[call - 1].repeat;
    if (follows) depends_on.back().push_back(call - 1);
  }
  for (size_t call = calls.size(); call-- > 0;) {
    for (const size_t before : depends_on[call]) {
      after_[before].AddAll(after_[call]);
      after_[before].Add(static_cast<int>(call));
    }
  }
}

CallSet CallDependencies::AfterAll(const std::vector<int>& calls) const {
  CallSet after = after_[static_cast<size_t>(calls[0])];
  for (const int call : calls) after.KeepOnly(after_[static_cast<size_t>(call)]);
  return after;
}

}  // namespace hone::passes
