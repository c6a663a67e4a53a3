// Loops marked as tile operations that the threads of a warp do together, in tensor cores. What
// each thread holds of an operand is that of PTX's mma.m16n8k16 and m16n8k8: of 16 by 8 sums those
// of two neighbouring lanes in row r and in row r + 8, where r is the thread's number in its warp
// over 4.
#include <algorithm>
#include <array>

#include "compiler/codegen/llvm/launch_emitter.h"
#include "compiler/machine/tensor_cores.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hone::codegen {

namespace Intrinsic = llvm::Intrinsic;
using llvm::Value;
using loop::TileOperation;
using machine::kWarpProduct;

namespace {

// A thread has as many of 16 by 8 sums.
constexpr int64_t kSumsOfThread = 4;
// An instruction takes the left operand's rows in two halves of 8, and the terms likewise, in 4
// words of two 16-bit terms or of one float32.
constexpr int64_t kHalfRows = 8;
constexpr int64_t kHalfWords = 4;
constexpr int64_t kWords = 2 * kHalfWords;
// ldmatrix loads rows of 4 words, each of which begins at a multiple of their bytes.
constexpr uint64_t kMatrixRowBytes = 16;

std::vector<Value*> PartsOf(Builder& b, Value* made, unsigned count) {
  std::vector<Value*> parts;
  for (unsigned i = 0; i < count; ++i) parts.push_back(b.CreateExtractValue(made, i));
  return parts;
}

// Words of float32 as sums of two numbers of TF32, which has 11 of their 24 digits: what is left
// over beside `high` has 12 at most, of which the instruction ignores the last.
struct SplitWords {
  std::vector<Value*> high, low;
};

SplitWords Split(Builder& b, const std::vector<Value*>& words) {
  SplitWords split;
  for (Value* const word : words) {
    Value* const number = b.CreateBitCast(word, b.getFloatTy());
    Value* const high = b.CreateIntrinsic(Intrinsic::nvvm_f2tf32_rna, {}, {number});
    Value* const rest = b.CreateFSub(number, b.CreateBitCast(high, b.getFloatTy()));
    split.high.push_back(high);
    split.low.push_back(b.CreateBitCast(rest, b.getInt32Ty()));
  }
  return split;
}

// A thread's sums of a tile, with the products of the left operand and of the right one's words
// from `first` on.
using ThreadSums = std::array<Value*, kSumsOfThread>;
ThreadSums AddProduct(Builder& b, Intrinsic::ID id, const std::vector<Value*>& left,
                      const std::vector<Value*>& right, int64_t first, const ThreadSums& sums) {
  std::vector<Value*> arguments = left;
  arguments.insert(arguments.end(), right.begin() + first, right.begin() + first + 2);
  arguments.insert(arguments.end(), sums.begin(), sums.end());
  Value* const made = b.CreateIntrinsic(id, {}, arguments);
  ThreadSums added;
  for (unsigned i = 0; i < added.size(); ++i) added[i] = b.CreateExtractValue(made, i);
  return added;
}

}  // namespace

// The thread's number in its warp, taken apart as the instructions want it.
void LaunchEmitter::BeginWarps() {
  Value* const thread = b_.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {});
  const auto part = [&](uint64_t shift, uint64_t count) {
    Value* const bits = b_.CreateAnd(b_.CreateLShr(thread, shift), count - 1);
    return index_.Of(b_.CreateZExt(bits, b_.getInt64Ty()), {0, static_cast<int64_t>(count) - 1});
  };
  lane_ = {.row = part(2, 8),
           .pair = part(0, 4),
           .of_sixteen = part(0, 16),
           .sixteen = part(4, 2),
           .of_eight = part(0, 8),
           .eight = part(3, 2)};
}

// A thread has its four sums of each tile of 16 by 8, tile behind tile.
void LaunchEmitter::EmitWarpSums(const loop::Stmt& s, const lower::WarpPlan::Tiling& tiling) {
  const loop::BufferNode& buffer = *s->buffer;
  WarpSums sums;
  int64_t tiles = 1;
  for (size_t axis = buffer.shape.size(); axis-- > 0;) {
    const int64_t extent = axis == tiling.row_axis    ? kWarpProduct.rows
                           : axis == tiling.lane_axis ? kWarpProduct.lanes
                                                      : 1;
    sums.axes.insert(sums.axes.begin(), {.extent = extent, .stride = tiles});
    tiles *= (buffer.shape[axis] + extent - 1) / extent;
  }
  Builder entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  sums.base = entry.CreateAlloca(llvm::ArrayType::get(b_.getFloatTy(), tiles * kSumsOfThread),
                                 nullptr, buffer.name);
  warp_sums_[&buffer] = std::move(sums);
  EmitStmt(s->body[0]);
  warp_sums_.erase(&buffer);
}

// Where in the tile, and at which of its steps, the code that follows is.
void LaunchEmitter::BindTile(const TileOperation& op, const Index& row, const Index& lane,
                             const Index& step) {
  const std::vector<loop::Expr>& variables = op.variables;
  vars_[variables.front().get()] = row;
  if (op.kind == TileOperation::Kind::kMultiply) {
    vars_[variables[1].get()] = step;
    vars_[variables[2].get()] = lane;
    if (variables.size() > 3) vars_[variables[3].get()] = IndexMath::Constant(0);
  } else {
    vars_[variables[1].get()] = lane;
  }
  BeginStatement();
}

// The thread's four sums, of lanes from `lane` on.
std::array<Value*, 4> LaunchEmitter::WarpSumsAt(const TileOperation& op, int64_t lane) {
  BindTile(op, IndexMath::Constant(0), IndexMath::Constant(lane), IndexMath::Constant(0));
  const WarpSums& sums = warp_sums_.at(op.sums.get());
  Index tile;
  for (size_t axis = 0; axis < op.indices.size(); ++axis) {
    const Index place = index_.FloorDiv(*IndexOf(op.indices[axis]), sums.axes[axis].extent);
    tile = IndexMath::Sum(tile, place, sums.axes[axis].stride);
  }
  Value* const first =
      b_.CreateGEP(b_.getFloatTy(), sums.base, index_.Emit(IndexMath::Scaled(tile, kSumsOfThread)));
  std::array<Value*, 4> pointers{};
  for (size_t i = 0; i < pointers.size(); ++i) {
    pointers[i] = b_.CreateConstGEP1_64(b_.getFloatTy(), first, i);
  }
  return pointers;
}

void LaunchEmitter::EmitWarpOperation(const TileOperation& op) {
  for (int64_t lane = 0; lane < op.lanes && status_.ok(); lane += kWarpProduct.lanes) {
    switch (op.kind) {
      case TileOperation::Kind::kZero:
        for (Value* sum : WarpSumsAt(op, lane)) {
          b_.CreateStore(llvm::ConstantFP::get(b_.getFloatTy(), 0), sum);
        }
        break;
      case TileOperation::Kind::kStore:
        StoreWarpSums(op, lane);
        break;
      case TileOperation::Kind::kMultiply:
        break;
    }
  }
  if (op.kind == TileOperation::Kind::kMultiply) EmitWarpProduct(op);
}

// In each half of the rows a thread has the sums of two neighbouring lanes: one pair in memory
// where a row of the target is a row of sums, and two elements of different rows where it is a
// lane.
void LaunchEmitter::StoreWarpSums(const TileOperation& op, int64_t lane) {
  const std::array<Value*, 4> sums = WarpSumsAt(op, lane);
  llvm::Type* const pair = Widen(b_.getFloatTy(), 2);
  for (size_t half = 0; half < 2; ++half) {
    const auto row = static_cast<int64_t>(half) * kHalfRows;
    BindTile(op, IndexMath::Sum(lane_.row, IndexMath::Constant(row)),
             IndexMath::Sum(IndexMath::Constant(lane), lane_.pair, 2), IndexMath::Constant(0));
    const Address address = Locate(op.target.load->buffer, op.target.load->operands);
    if (!status_.ok()) return;
    Value* values = llvm::PoisonValue::get(pair);
    for (size_t i = 0; i < 2; ++i) {
      Value* const sum = b_.CreateLoad(b_.getFloatTy(), sums[2 * half + i]);
      if (op.target_has_lanes) {
        Value* const place = b_.CreateConstGEP1_64(b_.getFloatTy(), address.pointer,
                                                   i * static_cast<uint64_t>(op.target.stride));
        Annotate(b_.CreateAlignedStore(sum, place, llvm::Align(sizeof(float))), *address.storage,
                 /*is_load=*/false);
      } else {
        values = b_.CreateInsertElement(values, sum, i);
      }
    }
    if (op.target_has_lanes) continue;
    Annotate(b_.CreateAlignedStore(values, address.pointer, address.align), *address.storage,
             /*is_load=*/false);
  }
}

// A matrix of each of the row addresses that 8 threads have; null where the operand, which the
// variables of its tile say a place in, is not where the instruction can load it.
Value* LaunchEmitter::LoadMatrices(const loop::Expr& load, bool has_four) {
  if (load->buffer->scope != loop::Scope::kShared) return nullptr;
  const Address address = Locate(load->buffer, load->operands);
  if (!status_.ok() || address.align < llvm::Align(kMatrixRowBytes)) return nullptr;
  const Intrinsic::ID id = has_four ? Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16
                                    : Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16;
  return b_.CreateIntrinsic(id, {address.pointer->getType()}, {address.pointer});
}

// A word of terms.
Value* LaunchEmitter::LoadWord(const loop::Expr& load) {
  const Address address = Locate(load->buffer, load->operands);
  if (!status_.ok()) return b_.getInt32(0);
  return Annotate(b_.CreateAlignedLoad(b_.getInt32Ty(), address.pointer, address.align),
                  *address.storage, /*is_load=*/true);
}

// Each of the halves of the rows in the first half of the terms, then in the second.
std::vector<Value*> LaunchEmitter::LoadWarpRows(const TileOperation& op, int64_t step) {
  const loop::Expr& load = op.left.load;
  BindTile(op, lane_.of_sixteen, IndexMath::Constant(0),
           IndexMath::Sum(IndexMath::Constant(step), lane_.sixteen, kHalfWords));
  if (Value* const matrices = LoadMatrices(load, /*has_four=*/true)) {
    return PartsOf(b_, matrices, 4);
  }
  std::vector<Value*> words;
  for (const int64_t half : {int64_t{0}, kHalfWords}) {
    for (const int64_t row : {int64_t{0}, kHalfRows}) {
      BindTile(op, IndexMath::Sum(lane_.row, IndexMath::Constant(row)), IndexMath::Constant(0),
               IndexMath::Sum(lane_.pair, IndexMath::Constant(step + half)));
      words.push_back(LoadWord(load));
    }
  }
  return words;
}

// For each 8 lanes the first half of the terms, then the second.
std::vector<Value*> LaunchEmitter::LoadWarpLanes(const TileOperation& op, int64_t step) {
  const loop::Expr& load = op.right.load;
  if (op.right_has_lanes) {
    const bool has_four = op.lanes > kWarpProduct.lanes;
    Index lane = lane_.of_eight;
    if (has_four) lane = IndexMath::Sum(lane, lane_.sixteen, kWarpProduct.lanes);
    BindTile(op, IndexMath::Constant(0), lane,
             IndexMath::Sum(IndexMath::Constant(step), lane_.eight, kHalfWords));
    if (Value* const matrices = LoadMatrices(load, has_four)) {
      return PartsOf(b_, matrices, has_four ? 4 : 2);
    }
  }
  std::vector<Value*> words;
  for (int64_t lane = 0; lane < op.lanes; lane += kWarpProduct.lanes) {
    for (const int64_t half : {int64_t{0}, kHalfWords}) {
      BindTile(op, IndexMath::Constant(0), IndexMath::Sum(lane_.row, IndexMath::Constant(lane)),
               IndexMath::Sum(lane_.pair, IndexMath::Constant(step + half)));
      words.push_back(LoadWord(load));
    }
  }
  return words;
}

void LaunchEmitter::EmitWarpProduct(const TileOperation& op) {
  if (op.left.load->dtype == DataType::kFloat32) return EmitSplitProduct(op);
  const bool is_bfloat16 = op.left.load->dtype == DataType::kBFloat16;
  const Intrinsic::ID id = is_bfloat16 ? Intrinsic::nvvm_mma_m16n8k16_row_col_bf16
                                       : Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32;
  llvm::Type* const operand = is_bfloat16 ? b_.getInt32Ty() : Widen(b_.getHalfTy(), 2);
  const auto cast = [&](std::vector<Value*> words) {
    for (Value*& word : words) word = b_.CreateBitCast(word, operand);
    return words;
  };
  for (int64_t step = 0; step < op.steps && status_.ok(); step += kWords) {
    const std::vector<Value*> left = cast(LoadWarpRows(op, step));
    const std::vector<Value*> right = cast(LoadWarpLanes(op, step));
    for (int64_t lane = 0; lane < op.lanes; lane += kWarpProduct.lanes) {
      const ThreadSums sums = WarpSumsAt(op, lane);
      ThreadSums loaded;
      std::ranges::transform(sums, loaded.begin(),
                             [&](Value* sum) { return b_.CreateLoad(b_.getFloatTy(), sum); });
      const ThreadSums added =
          AddProduct(b_, id, left, right, lane / kWarpProduct.lanes * 2, loaded);
      for (size_t i = 0; i < sums.size(); ++i) b_.CreateStore(added[i], sums[i]);
    }
  }
}

// Three of the four products of two split factors (3xTF32): that of both low parts is too small to
// count. Tensor cores cut where they add, so the terms of an operation are summed apart, and that
// sum is rounded into the others.
void LaunchEmitter::EmitSplitProduct(const TileOperation& op) {
  constexpr Intrinsic::ID kMultiply = Intrinsic::nvvm_mma_m16n8k8_row_col_tf32;
  ThreadSums zeros;
  zeros.fill(llvm::ConstantFP::get(b_.getFloatTy(), 0));
  std::vector<ThreadSums> apart(static_cast<size_t>(op.lanes / kWarpProduct.lanes), zeros);
  for (int64_t step = 0; step < op.steps && status_.ok(); step += kWords) {
    const SplitWords left = Split(b_, LoadWarpRows(op, step));
    const SplitWords right = Split(b_, LoadWarpLanes(op, step));
    for (size_t i = 0; i < apart.size(); ++i) {
      const auto first = static_cast<int64_t>(i) * 2;
      apart[i] = AddProduct(b_, kMultiply, left.low, right.high, first, apart[i]);
      apart[i] = AddProduct(b_, kMultiply, left.high, right.low, first, apart[i]);
      apart[i] = AddProduct(b_, kMultiply, left.high, right.high, first, apart[i]);
    }
  }
  for (size_t i = 0; i < apart.size() && status_.ok(); ++i) {
    const ThreadSums sums = WarpSumsAt(op, static_cast<int64_t>(i) * kWarpProduct.lanes);
    for (size_t j = 0; j < sums.size(); ++j) {
      Value* const sum = b_.CreateLoad(b_.getFloatTy(), sums[j]);
      b_.CreateStore(b_.CreateFAdd(sum, apart[i][j]), sums[j]);
    }
  }
}

}  // namespace hone::codegen
