#include "compiler/driver/views.h"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/module_abi.h"

namespace hone::driver {
namespace {

bool IsJoin(const Move& move) { return move.pieces.size() > 1; }

class Placer {
 public:
  // The calls without workspaces: what kernels need of these is not known yet.
  Placer(const std::vector<Move>& moves, const std::vector<passes::PlannedCall>& calls,
         std::vector<passes::PlannedValue> values)
      : moves_(moves),
        calls_(calls),
        values_(std::move(values)),
        writers_(values_.size(), -1),
        gone_(moves.size(), false) {
    for (const passes::PlannedCall& call : calls) {
      for (const int value : call.writes) writers_[static_cast<size_t>(value)] = call.repeat;
    }
  }

  // A copy needs a place for the parts and one for the whole while it runs. What is joined has the
  // whole from its first part on: where a network reads that part again at its end, memory that
  // would have been others' until then. So joins may make the peak somewhat larger than copies
  // would, for the time they save, and no more. Little memory is never worth a copy.
  void JoinAll() {
    constexpr uint64_t kLittle = 1 << 20;
    peak_ = PeakWhenLaid();
    most_ = peak_ + std::max(peak_ / 4, kLittle);
    for (size_t i = 0; i < moves_.size(); ++i) {
      if (IsJoin(moves_[i])) gone_[i] = Join(moves_[i]);
    }
  }

  void LayAll() {
    for (size_t i = 0; i < moves_.size(); ++i) {
      if (!IsJoin(moves_[i])) gone_[i] = Lay(moves_[i]);
    }
  }

  const std::vector<passes::PlannedValue>& values() const { return values_; }
  const std::vector<bool>& gone() const { return gone_; }

 private:
  // The most that is alive at once, with what is joined so far and everything laid that can be:
  // lays take values away, and have what they lie in live longer.
  uint64_t PeakWhenLaid() const {
    Placer laid = *this;
    laid.LayAll();
    return passes::PeakLiveBytes(laid.values_, calls_);
  }

  // Whether all of a value that a kernel writes can lie elsewhere, where `call` does. What a repeat
  // only reads is written once, and what it writes is written in every trip.
  bool IsFree(int id, uint64_t size, const passes::PlannedCall& call) const {
    const passes::PlannedValue& value = values_[id];
    return !value.external && value.within < 0 && value.bytes == size &&
           writers_[static_cast<size_t>(id)] == call.repeat;
  }

  void Put(int id, int within, uint64_t offset_bytes) {
    values_[id].within = within;
    values_[id].offset_bytes = offset_bytes;
  }

  bool Join(const Move& move) {
    const passes::PlannedCall& call = calls_[move.call];
    const int result = call.writes[0];
    const int holder = passes::PlaceOf(values_, result).value;
    std::set<int> parts;
    uint64_t offset = 0;
    for (const passes::Piece& piece : move.pieces) {
      const int part = call.reads[piece.operand];
      const bool fits = piece.begin == 0 && IsFree(part, piece.size, call) && part != holder &&
                        offset % HONE_BUFFER_ALIGNMENT == 0 && parts.insert(part).second;
      if (!fits) return false;
      offset += piece.size;
    }
    offset = 0;
    for (const passes::Piece& piece : move.pieces) {
      Put(call.reads[piece.operand], result, offset);
      offset += piece.size;
    }
    // At any time at most what holds the whole is alive that was not before.
    uint64_t peak = peak_ + values_[holder].bytes;
    if (peak > most_) peak = PeakWhenLaid();
    if (peak > most_) {
      for (const int part : parts) Put(part, -1, 0);
      return false;
    }
    peak_ = peak;
    return true;
  }

  // The result in the operand, or all of the operand in the result.
  bool Lay(const Move& move) {
    if (move.pieces.empty()) return false;
    const passes::PlannedCall& call = calls_[move.call];
    const passes::Piece& piece = move.pieces[0];
    const int from = call.reads[piece.operand];
    const int result = call.writes[0];
    if (IsFree(result, piece.size, call) && piece.begin % HONE_BUFFER_ALIGNMENT == 0) {
      Put(result, from, piece.begin);
      return true;
    }
    const passes::Place place = passes::PlaceOf(values_, from);
    const bool whole = piece.begin == 0 && place.offset_bytes == 0 &&
                       IsFree(place.value, piece.size, call) &&
                       passes::PlaceOf(values_, result).value != place.value;
    if (!whole) return false;
    Put(place.value, result, 0);
    return true;
  }

  const std::vector<Move>& moves_;
  const std::vector<passes::PlannedCall>& calls_;
  std::vector<passes::PlannedValue> values_;
  std::vector<int> writers_;  // of each value: the repeat of the call that writes it, or -1
  std::vector<bool> gone_;
  uint64_t most_ = 0;  // that joins may make of the peak
  uint64_t peak_ = 0;  // no less than that of what is joined so far, when laid
};

}  // namespace

std::vector<bool> PlaceViews(const std::vector<Move>& moves, Specialisation* graph) {
  std::vector<passes::PlannedCall> calls;
  for (const KernelCall& call : graph->calls) {
    calls.push_back(
        {.reads = call.args, .writes = call.results, .workspace_bytes = 0, .repeat = call.repeat});
  }
  Placer placer(moves, calls, PlannedValuesOf(graph->values));
  // What is joined first: it has but one place, and a copy of it can be as well.
  if (std::any_of(moves.begin(), moves.end(), IsJoin)) placer.JoinAll();
  placer.LayAll();
  for (size_t i = 0; i < graph->values.size(); ++i) {
    graph->values[i].within = placer.values()[i].within;
    graph->values[i].offset_bytes = placer.values()[i].offset_bytes;
  }
  return placer.gone();
}

uint64_t SizeBytesOf(const Value& value) {
  return static_cast<uint64_t>(value.layout.SizeBytes(value.type.shape, value.type.dtype));
}

std::vector<passes::PlannedValue> PlannedValuesOf(const std::vector<Value>& values) {
  std::vector<passes::PlannedValue> planned;
  for (const Value& value : values) {
    planned.push_back({.bytes = SizeBytesOf(value),
                       .external = value.kind != Value::Kind::kIntermediate,
                       .within = value.within,
                       .offset_bytes = value.offset_bytes,
                       .stride_bytes = value.stride_bytes,
                       .alternates = value.alternates,
                       .follows = value.follows});
  }
  return planned;
}

}  // namespace hone::driver
