#include "compiler/driver/views.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "compiler/ir/node_map.h"
#include "compiler/ops/attrs.h"
#include "runtime/module_abi.h"

namespace hone::driver {
namespace {

using Pieces = std::optional<std::vector<Piece>>;

int64_t Product(std::vector<int64_t>::const_iterator begin,
                std::vector<int64_t>::const_iterator end) {
  int64_t product = 1;
  for (; begin != end; ++begin) product *= *begin;
  return product;
}

// The first element of a slice that is one run of its data; nullopt where it is not.
std::optional<int64_t> FirstOfSlice(const ir::ExprNode& slice) {
  const std::vector<int64_t>& data = slice.args[0]->type->tensor.shape;
  const std::vector<int64_t>& result = slice.type->tensor.shape;
  const std::vector<int64_t> begin = ops::IntsAttr(slice.attrs, "begin");
  const std::vector<int64_t> strides = ops::IntsAttr(slice.attrs, "strides");
  const std::vector<int64_t> axes = ops::IntsAttr(slice.attrs, "axes");
  const auto rank = static_cast<int64_t>(data.size());
  int64_t first = 0;
  for (size_t i = 0; i < begin.size(); ++i) {
    const int64_t axis = slice.attrs.contains("axes") ? axes[i] : static_cast<int64_t>(i);
    const int64_t at = axis < 0 ? axis + rank : axis;
    const int64_t extent = data[at];
    if (!strides.empty() && strides[i] != 1) return std::nullopt;
    if (result[at] == extent) continue;
    // Axes before one that is cut have one position each.
    if (Product(result.begin(), result.begin() + at) != 1) return std::nullopt;
    const int64_t from =
        std::clamp<int64_t>(begin[i] < 0 ? begin[i] + extent : begin[i], 0, extent);
    first += from * Product(data.begin() + at + 1, data.end());
  }
  return first;
}

// Joined along an axis with nothing before it, all row-major.
bool JoinsInOrder(const ir::ExprNode& concatenate) {
  const std::vector<int64_t>& shape = concatenate.type->tensor.shape;
  int64_t axis = ops::IntAttr(concatenate.attrs, "axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  return Product(shape.begin(), shape.begin() + axis) == 1;
}

// Follows what a function of row-major tensors does to its operands.
class PieceFinder {
 public:
  explicit PieceFinder(const ir::ExprNode& function) {
    const std::vector<ir::Expr> params = ir::Params(function);
    for (size_t i = 0; i < params.size(); ++i) {
      const auto size = static_cast<uint64_t>(params[i]->type->tensor.SizeBytes());
      pieces_[params[i].get()] = std::vector<Piece>{{i, 0, size}};
    }
  }

  Pieces Of(const ir::Expr& body) {
    for (const ir::Expr& node : ir::PostOrder(body)) {
      if (pieces_.contains(node.get()) || node->kind == ir::ExprKind::kTuple) continue;
      Pieces found = OfCall(*node);
      if (!found) return std::nullopt;
      pieces_[node.get()] = *std::move(found);
    }
    return pieces_.at(body.get());
  }

 private:
  Pieces OfCall(const ir::ExprNode& node) const {
    static const auto* const same = new std::set<std::string, std::less<>>{
        "reshape", "expand_dims", "squeeze", "nn.batch_flatten", "copy"};
    if (node.kind != ir::ExprKind::kCall || node.callee || node.args.empty()) return std::nullopt;
    if (same->contains(node.name)) return pieces_.at(node.args[0].get());
    if (node.name == "strided_slice") return OfSlice(node);
    if (node.name == "concatenate" && JoinsInOrder(node)) return Join(node);
    return std::nullopt;
  }

  Pieces Join(const ir::ExprNode& node) const {
    std::vector<Piece> all;
    for (const ir::Expr& part : node.args[0]->args) {
      const auto found = pieces_.find(part.get());
      if (found == pieces_.end()) return std::nullopt;
      all.insert(all.end(), found->second.begin(), found->second.end());
    }
    return all;
  }

  Pieces OfSlice(const ir::ExprNode& node) const {
    const std::optional<int64_t> first = FirstOfSlice(node);
    if (!first) return std::nullopt;
    const ir::TensorType& type = node.type->tensor;
    uint64_t skip = static_cast<uint64_t>(*first) * static_cast<uint64_t>(SizeBytes(type.dtype));
    auto left = static_cast<uint64_t>(type.SizeBytes());
    std::vector<Piece> cut;
    for (Piece piece : pieces_.at(node.args[0].get())) {
      const uint64_t skipped = std::min(skip, piece.size);
      skip -= skipped;
      piece.begin += skipped;
      piece.size = std::min(piece.size - skipped, left);
      left -= piece.size;
      if (piece.size > 0) cut.push_back(piece);
    }
    return cut;
  }

  ir::NodeMap<std::vector<Piece>> pieces_;
};

bool AllRowMajor(const ir::LayoutSignature& signature) {
  const auto is = [](const Layout& layout) { return layout.rank() == 0 || layout.IsRowMajor(); };
  return std::all_of(signature.operands.begin(), signature.operands.end(), is) &&
         std::all_of(signature.results.begin(), signature.results.end(), is);
}

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
    for (const Piece& piece : move.pieces) {
      const int part = call.args[piece.operand];
      const bool fits = piece.begin == 0 && IsFree(part, piece.size) && part != holder &&
                        offset % HONE_BUFFER_ALIGNMENT == 0 && parts.insert(part).second;
      if (!fits) return false;
      offset += piece.size;
    }
    offset = 0;
    for (const Piece& piece : move.pieces) {
      Put(call.args[piece.operand], result, offset);
      offset += piece.size;
    }
    return true;
  }

  // The result in the operand, or all of the operand in the result.
  bool Lay(const Move& move) {
    if (move.pieces.empty()) return false;
    const KernelCall& call = graph_.calls[move.call];
    const Piece& piece = move.pieces[0];
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

// Whether some target's templates have blocked layouts for the function. Such a kernel stays: what
// does not run is never measured, and AlterOpLayout would leave the layouts in which it need not.
bool HasLayoutChoice(const ir::ExprNode& function) {
  constexpr size_t kLeastRank = 4;
  constexpr size_t kMostRank = 5;
  constexpr int64_t kFewestLanes = 4;
  const auto has = [](const ir::Expr& tensor) {
    const std::vector<int64_t>& shape = tensor->type->tensor.shape;
    return shape.size() >= kLeastRank && shape.size() <= kMostRank && shape[1] >= kFewestLanes;
  };
  const std::vector<ir::Expr> params = ir::Params(function);
  return has(ir::Body(function)) || std::any_of(params.begin(), params.end(), has);
}

}  // namespace

std::optional<std::vector<Piece>> PiecesOf(const ir::ExprNode& function,
                                           const ir::LayoutSignature& signature) {
  const ir::Expr body = ir::Body(function);
  if (body->type->is_tuple || body->type->tensor.ElementCount() == 0) return std::nullopt;
  if (HasLayoutChoice(function)) return std::nullopt;
  return AllRowMajor(signature) ? PieceFinder(function).Of(body) : std::nullopt;
}

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
