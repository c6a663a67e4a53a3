// Loops marked as operations of tile registers. The registers are numbers that the plan gives:
// LLVM sees neither values in them nor a need to keep them.
#include <algorithm>

#include "compiler/codegen/llvm/launch_emitter.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

namespace hone::codegen {

namespace Intrinsic = llvm::Intrinsic;
using llvm::Value;
using loop::TileOperation;

namespace {

Intrinsic::ID ProductOf(const TileOperation& op) {
  const DataType left = op.left.load->dtype;
  const DataType right = op.right.load->dtype;
  if (left == DataType::kBFloat16) return Intrinsic::x86_tdpbf16ps;
  if (IsSigned(left)) return IsSigned(right) ? Intrinsic::x86_tdpbssd : Intrinsic::x86_tdpbsud;
  return IsSigned(right) ? Intrinsic::x86_tdpbusd : Intrinsic::x86_tdpbuud;
}

}  // namespace

// Shapes that serve the whole launch are set once; others where a region needs them and has not
// found them.
void LaunchEmitter::BeginTiles() {
  if (launch_->tiles.shapes.size() == 1) return SetTileShapes(0);
  if (launch_->tiles.shapes.empty()) return;
  tile_shapes_ = b_.CreateAlloca(b_.getInt32Ty(), nullptr, "shapes");
  b_.CreateStore(b_.getInt32(static_cast<uint32_t>(launch_->tiles.shapes.size())), tile_shapes_);
}

// Registers in use make a thread dearer to switch, and the core slower to clock up.
void LaunchEmitter::EndTiles() {
  if (!launch_->tiles.shapes.empty()) b_.CreateIntrinsic(Intrinsic::x86_tilerelease, {}, {});
}

void LaunchEmitter::SetTileShapes(size_t shapes) {
  llvm::Constant* bytes = llvm::ConstantDataArray::get(context_, launch_->tiles.shapes[shapes]);
  auto* global = new llvm::GlobalVariable(module_, bytes->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, bytes, "tile_shapes");
  global->setAlignment(llvm::Align(sizeof(lower::TilePlan::Shapes)));
  b_.CreateIntrinsic(Intrinsic::x86_ldtilecfg, {}, {global});
}

void LaunchEmitter::EmitTileAlloc(const loop::Stmt& s, const lower::TilePlan::Region& region) {
  if (tile_shapes_) {
    llvm::BasicBlock* set = NewBlock("shapes");
    llvm::BasicBlock* ready = NewBlock("tiles");
    Value* number = b_.getInt32(static_cast<uint32_t>(region.shapes));
    Value* present = b_.CreateLoad(b_.getInt32Ty(), tile_shapes_);
    b_.CreateCondBr(b_.CreateICmpEQ(present, number), ready, set);
    b_.SetInsertPoint(set);
    SetTileShapes(region.shapes);
    b_.CreateStore(number, tile_shapes_);
    b_.CreateBr(ready);
    b_.SetInsertPoint(ready);
  }
  storage_[s->buffer.get()] = Storage::Of(*s->buffer);  // for offsets alone
  region_ = &region;
  ForgetTiles();
  EmitStmt(s->body[0]);
  region_ = nullptr;
  storage_.erase(s->buffer.get());
}

void LaunchEmitter::EmitTileCall(Intrinsic::ID id, int tile, llvm::ArrayRef<Value*> arguments) {
  std::vector<Value*> all = {b_.getInt8(static_cast<uint8_t>(tile))};
  all.insert(all.end(), arguments.begin(), arguments.end());
  b_.CreateIntrinsic(id, {}, all);
}

void LaunchEmitter::EmitTile(const TileOperation& op) {
  for (const loop::Expr& var : op.variables) vars_[var.get()] = IndexMath::Constant(0);
  BeginStatement();
  const std::optional<Index> first =
      OffsetOf(op.sums, op.indices, *FindStorage(op.sums), /*speculative=*/false);
  if (!first) return;
  const int sum = region_->sums.at(first->constant);
  switch (op.kind) {
    case TileOperation::Kind::kZero:
      return EmitTileCall(Intrinsic::x86_tilezero, sum, {});
    case TileOperation::Kind::kMultiply:
      return EmitTileProduct(op, sum);
    case TileOperation::Kind::kStore: {
      const Address address = Locate(op.target.load->buffer, op.target.load->operands);
      if (!status_.ok()) return;
      ForgetTiles();
      const int64_t bytes = op.target.stride * SizeBytes(op.target.load->dtype);
      return EmitTileCall(Intrinsic::x86_tilestored64, sum,
                          {address.pointer, b_.getInt64(static_cast<uint64_t>(bytes))});
    }
  }
}

void LaunchEmitter::EmitTileProduct(const TileOperation& op, int sum) {
  const int left = LoadTile(op.left, lower::TileKind::OfLeft(op));
  const int right = LoadTile(op.right, lower::TileKind::OfRight(op));
  if (!status_.ok()) return;
  EmitTileCall(ProductOf(op), sum,
               {b_.getInt8(static_cast<uint8_t>(left)), b_.getInt8(static_cast<uint8_t>(right))});
}

// The register that has the tile; the one of its kind that was not read for longest gets it where
// none has.
int LaunchEmitter::LoadTile(const loop::TileOperand& operand, const lower::TileKind& kind) {
  const loop::Expr& load = operand.load;
  const Address address = Locate(load->buffer, load->operands);
  if (!status_.ok()) return 0;
  HeldTile tile{kind, load->buffer.get(), {}, operand.stride, -1};
  tile.first = *OffsetOf(load->buffer, load->operands, *address.storage, /*speculative=*/false);
  const auto same = [&](const HeldTile& held) {
    return held.kind == kind && held.buffer == tile.buffer && held.stride == tile.stride &&
           held.first.constant == tile.first.constant && held.first.terms == tile.first.terms;
  };
  const auto found = std::find_if(held_tiles_.begin(), held_tiles_.end(), same);
  if (found != held_tiles_.end()) {
    std::rotate(found, found + 1, held_tiles_.end());
    return held_tiles_.back().number;
  }
  for (const int number : region_->factors.at(kind)) {
    const bool held = std::any_of(held_tiles_.begin(), held_tiles_.end(),
                                  [&](const HeldTile& other) { return other.number == number; });
    if (!held) tile.number = number;
  }
  if (tile.number < 0) {
    const auto oldest = std::find_if(held_tiles_.begin(), held_tiles_.end(),
                                     [&](const HeldTile& other) { return other.kind == kind; });
    tile.number = oldest->number;
    held_tiles_.erase(oldest);
  }
  const int64_t bytes = tile.stride * SizeBytes(load->dtype);
  EmitTileCall(Intrinsic::x86_tileloadd64, tile.number,
               {address.pointer, b_.getInt64(static_cast<uint64_t>(bytes))});
  held_tiles_.push_back(tile);
  return tile.number;
}

}  // namespace hone::codegen
