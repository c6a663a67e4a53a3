#include "compiler/driver/views.h"

#include <set>

#include "runtime/module_abi.h"

namespace hone::driver {
namespace {

class Placer {
 public:
  Placer(const std::vector<Move>& moves, Specialisation* graph)
      : moves_(moves), graph_(*graph), gone_(moves.size(), false) {}

  // What is joined first: it has but one place, and a copy of it can be as well.
  std::vector<bool> Run() {
    for (const bool joins : {true, false}) {
      for (size_t i = 0; i < moves_.size(); ++i) {
        if ((moves_[i].pieces.size() > 1) != joins) continue;
        gone_[i] = joins ? Join(moves_[i]) : Lay(moves_[i]);
      }
    }
    return gone_;
  }

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
};

}  // namespace

std::vector<bool> PlaceViews(const std::vector<Move>& moves, Specialisation* graph) {
  return Placer(moves, graph).Run();
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

}  // namespace hone::driver
