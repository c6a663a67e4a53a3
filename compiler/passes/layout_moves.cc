#include "compiler/passes/layout_moves.h"

#include "compiler/ir/node_map.h"
#include "compiler/passes/pieces.h"
#include "compiler/passes/rewriting.h"
#include "runtime/module_abi.h"

namespace hone::passes {
namespace {

using ir::Expr;
using Pieces = std::vector<Piece>;

class Surveyor {
 public:
  Surveyor(const std::vector<LayoutMove>& calls, const Expr& body)
      : calls_(calls), outputs_(ResultsOf(body)) {}

  // What is joined first, as the driver has it: it takes its parts.
  std::vector<std::vector<bool>> Run() {
    std::vector<std::vector<bool>> free(calls_.size());
    for (const bool joins : {true, false}) {
      for (size_t c = 0; c < calls_.size(); ++c) {
        free[c].resize(calls_[c].signatures.size(), false);
        for (size_t s = 0; s < calls_[c].signatures.size(); ++s) {
          const auto pieces = PiecesOf(*calls_[c].call->callee, calls_[c].signatures[s]);
          if (!pieces || pieces->empty() || (pieces->size() > 1) != joins) continue;
          free[c][s] = joins ? Join(c, s, *pieces) : Lay(c, s, (*pieces)[0]);
        }
      }
    }
    return free;
  }

 private:
  static bool IsAligned(uint64_t offset) { return offset % HONE_BUFFER_ALIGNMENT == 0; }

  const Expr& OperandOf(size_t call, const Piece& piece) const {
    return calls_[call].call->args[piece.operand];
  }

  bool IsWhole(size_t call, size_t signature, const Piece& piece) const {
    const ir::TensorType& type = OperandOf(call, piece)->type->tensor;
    const Layout& layout = calls_[call].signatures[signature].operands[piece.operand];
    return piece.begin == 0 &&
           piece.size == static_cast<uint64_t>(layout.SizeBytes(type.shape, type.dtype));
  }

  // Whether a kernel could write the value elsewhere: into the result of `call`.
  bool IsMovable(const Expr& value, const ir::ExprNode* call) const {
    const auto owner = owners_.find(value.get());
    return value->kind == ir::ExprKind::kCall && value->callee && IsPrimitive(value->callee) &&
           !outputs_.contains(value.get()) && (owner == owners_.end() || owner->second == call);
  }

  bool Join(size_t c, size_t s, const Pieces& pieces) {
    const ir::ExprNode* call = calls_[c].call.get();
    uint64_t offset = 0;
    ir::NodeSet parts;
    for (const Piece& piece : pieces) {
      const Expr& part = OperandOf(c, piece);
      if (!IsAligned(offset) || !IsWhole(c, s, piece) || !IsMovable(part, call) ||
          !parts.insert(part.get()).second) {
        return false;
      }
      offset += piece.size;
    }
    for (const ir::ExprNode* part : parts) owners_[part] = call;
    return true;
  }

  bool Lay(size_t c, size_t s, const Piece& piece) const {
    const Expr& call = calls_[c].call;
    const bool is_free = !outputs_.contains(call.get()) && !owners_.contains(call.get());
    if (is_free && IsAligned(piece.begin)) return true;
    return IsWhole(c, s, piece) && IsMovable(OperandOf(c, piece), call.get());
  }

  const std::vector<LayoutMove>& calls_;
  ir::NodeSet outputs_;
  ir::NodeMap<const ir::ExprNode*> owners_;  // of what is joined: the call that joins it
};

}  // namespace

std::vector<std::vector<bool>> FreeMoves(const std::vector<LayoutMove>& calls, const Expr& body) {
  return Surveyor(calls, body).Run();
}

}  // namespace hone::passes
