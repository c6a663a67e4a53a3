#include "compiler/driver/views.h"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/module_abi.h"

namespace hone::driver {
namespace {

bool IsJoin(const Move& move) { return move.pieces.size() > 1; }

// Of values that are alive at once; what kernels need beside these is not known yet.
uint64_t PeakOf(const Specialisation& graph) {
  std::vector<passes::PlannedCall> calls;
  for (const KernelCall& call : graph.calls) {
    calls.push_back({.reads = call.args, .writes = call.results, .workspace_bytes = 0});
  }
  return passes::PeakLiveBytes(PlannedValuesOf(graph.values), calls);
}

class Placer {
 public:
  Placer(const std::vector<Move>& moves, Specialisation* graph)
      : moves_(moves), graph_(*graph), gone_(moves.size(), false) {}

  // A copy needs a place for the parts and one for the whole while it runs. What is joined has the
  // whole from its first part on: where a network reads that part again at its end, memory that
  // would have been others' until then. So joins may make the peak somewhat larger than copies
  // would, for the time they save, and no more. Little memory is never worth a copy.
  void JoinAll() {
    constexpr uint64_t kLittle = 1 << 20;
    Specialisation apart = graph_;
    Placer(moves_, &apart).LayAll();
    const uint64_t with_copies = PeakOf(apart);
    most_ = std::max(with_copies + with_copies / 4, with_copies + kLittle);
    peak_ = PeakOf(graph_);
    for (size_t i = 0; i < moves_.size(); ++i) {
      if (IsJoin(moves_[i])) gone_[i] = Join(moves_[i]);
    }
  }

  void LayAll() {
    for (size_t i = 0; i < moves_.size(); ++i) {
      if (!IsJoin(moves_[i])) gone_[i] = Lay(moves_[i]);
    }
  }

  std::vector<bool> Gone() && { return std::move(gone_); }

 private:
  Value& At(int id) { return graph_.values[id]; }

  // Whether all of a value that a kernel writes can lie elsewhere.
  bool IsFree(int id, uint64_t size) {
    const Value& value = At(id);
    return value.kind == Value::Kind::kIntermediate && value.within < 0 &&
           SizeBytesOf(value) == size;
  }

  void Put(int id, int within, uint64_t offset_bytes) {
    At(id).within = within;
    At(id).offset_bytes = offset_bytes;
  }

  bool Join(const Move& move) {
    const KernelCall& call = graph_.calls[move.call];
    const int result = call.results[0];
    const int holder = PlaceOf(graph_.values, result).value;
    std::set<int> parts;
    uint64_t offset = 0;
    for (const passes::Piece& piece : move.pieces) {
      const int part = call.args[piece.operand];
      const bool fits = piece.begin == 0 && IsFree(part, piece.size) && part != holder &&
                        offset % HONE_BUFFER_ALIGNMENT == 0 && parts.insert(part).second;
      if (!fits) return false;
      offset += piece.size;
    }
    offset = 0;
    for (const passes::Piece& piece : move.pieces) {
      Put(call.args[piece.operand], result, offset);
      offset += piece.size;
    }
    // At any time at most what holds the whole is alive that was not before.
    uint64_t peak = peak_ + SizeBytesOf(At(holder));
    if (peak > most_) peak = PeakOf(graph_);
    if (peak > std::max(most_, peak_)) {
      for (const int part : parts) Put(part, -1, 0);
      return false;
    }
    peak_ = peak;
    return true;
  }

  // The result in the operand, or all of the operand in the result.
  bool Lay(const Move& move) {
    if (move.pieces.empty()) return false;
    const KernelCall& call = graph_.calls[move.call];
    const passes::Piece& piece = move.pieces[0];
    const int from = call.args[piece.operand];
    const int result = call.results[0];
    if (IsFree(result, piece.size) && At(from).kind != Value::Kind::kConstant &&
        piece.begin % HONE_BUFFER_ALIGNMENT == 0) {
      Put(result, from, piece.begin);
      return true;
    }
    const Place place = PlaceOf(graph_.values, from);
    const bool whole = piece.begin == 0 && place.offset_bytes == 0 &&
                       IsFree(place.value, piece.size) &&
                       PlaceOf(graph_.values, result).value != place.value;
    if (!whole) return false;
    Put(place.value, result, 0);
    return true;
  }

  const std::vector<Move>& moves_;
  Specialisation& graph_;
  std::vector<bool> gone_;
  uint64_t most_ = 0;  // that joins may make of the peak
  uint64_t peak_ = 0;  // no less than that with what is joined so far; beyond most_ the same
};

}  // namespace

std::vector<bool> PlaceViews(const std::vector<Move>& moves, Specialisation* graph) {
  Placer placer(moves, graph);
  // What is joined first: it has but one place, and a copy of it can be as well.
  if (std::any_of(moves.begin(), moves.end(), IsJoin)) placer.JoinAll();
  placer.LayAll();
  return std::move(placer).Gone();
}

Place PlaceOf(const std::vector<Value>& values, int value) {
  Place place = {value, 0};
  while (values[place.value].within >= 0) {
    place.offset_bytes += values[place.value].offset_bytes;
    place.value = values[place.value].within;
  }
  return place;
}

uint64_t SizeBytesOf(const Value& value) {
  return static_cast<uint64_t>(value.layout.ElementCount(value.type.shape)) *
         static_cast<uint64_t>(SizeBytes(value.type.dtype));
}

std::vector<passes::PlannedValue> PlannedValuesOf(const std::vector<Value>& values) {
  std::vector<passes::PlannedValue> planned;
  for (const Value& value : values) {
    planned.push_back({.bytes = SizeBytesOf(value),
                       .external = value.kind != Value::Kind::kIntermediate,
                       .within = value.within,
                       .offset_bytes = value.offset_bytes});
  }
  return planned;
}

}  // namespace hone::driver
