// Tiles that are read along one axis and written along another: rows come in, or go out, as vectors
// and are turned in registers, where lanes would gather or scatter single elements.
#include <bit>

#include "compiler/codegen/llvm/launch_emitter.h"
#include "compiler/loop/visit.h"
#include "compiler/lower/lane_walk.h"
#include "llvm/IR/Intrinsics.h"

namespace hone::codegen {
namespace {

using llvm::Value;
using lower::kPieceElements;

// Which elements of two vectors make one: `pick` says it for each piece of 128 bits.
Value* ShufflePieces(Builder& b, Value* x, Value* y, const std::vector<int>& pick) {
  const int lanes = LanesOf(x);
  std::vector<int> mask;
  for (int piece = 0; piece < lanes; piece += kPieceElements) {
    for (const int element : pick) {
      mask.push_back(piece +
                     (element < kPieceElements ? element : lanes + element - int{kPieceElements}));
    }
  }
  return b.CreateShuffleVector(x, y, mask);
}

// Whole pieces of the two vectors, counted through both.
Value* MovePieces(Builder& b, Value* x, Value* y, const std::vector<int>& pieces) {
  std::vector<int> mask;
  for (const int piece : pieces) {
    for (int i = 0; i < kPieceElements; ++i) mask.push_back(piece * int{kPieceElements} + i);
  }
  return b.CreateShuffleVector(x, y, mask);
}

// The pieces of four vectors from v[i] on, each turned: v[i + j] gets element j of the four.
void TransposePieces(Builder& b, std::vector<Value*>& v, size_t i) {
  Value* low = ShufflePieces(b, v[i], v[i + 1], {0, 4, 1, 5});
  Value* high = ShufflePieces(b, v[i], v[i + 1], {2, 6, 3, 7});
  Value* next_low = ShufflePieces(b, v[i + 2], v[i + 3], {0, 4, 1, 5});
  Value* next_high = ShufflePieces(b, v[i + 2], v[i + 3], {2, 6, 3, 7});
  v[i] = ShufflePieces(b, low, next_low, {0, 1, 4, 5});
  v[i + 1] = ShufflePieces(b, low, next_low, {2, 3, 6, 7});
  v[i + 2] = ShufflePieces(b, high, next_high, {0, 1, 4, 5});
  v[i + 3] = ShufflePieces(b, high, next_high, {2, 3, 6, 7});
}

// v[i][j] becomes v[j][i]: of 4, 8 or 16 vectors of as many elements of 32 bits, each step one
// instruction a vector.
void Transpose(Builder& b, std::vector<Value*>& v) {
  const size_t n = v.size();
  for (size_t i = 0; i < n; i += 4) TransposePieces(b, v, i);
  for (size_t j = 0; n == 8 && j < 4; ++j) {
    Value* first = MovePieces(b, v[j], v[j + 4], {0, 2});
    v[j + 4] = MovePieces(b, v[j], v[j + 4], {1, 3});
    v[j] = first;
  }
  for (size_t j = 0; n == 16 && j < 4; ++j) {
    Value* even = MovePieces(b, v[j], v[j + 4], {0, 2, 4, 6});
    Value* odd = MovePieces(b, v[j], v[j + 4], {1, 3, 5, 7});
    Value* next_even = MovePieces(b, v[j + 8], v[j + 12], {0, 2, 4, 6});
    Value* next_odd = MovePieces(b, v[j + 8], v[j + 12], {1, 3, 5, 7});
    v[j] = MovePieces(b, even, next_even, {0, 2, 4, 6});
    v[j + 4] = MovePieces(b, odd, next_odd, {0, 2, 4, 6});
    v[j + 8] = MovePieces(b, even, next_even, {1, 3, 5, 7});
    v[j + 12] = MovePieces(b, odd, next_odd, {1, 3, 5, 7});
  }
}

// The same of elements of 8 or 64 bits: each step interleaves every vector with the one half of all
// behind it, the low halves of both and the high ones.
void TransposeByHalves(Builder& b, std::vector<Value*>& v) {
  const auto n = static_cast<int>(v.size());
  std::vector<int> low, high;
  for (int i = 0; i < n; ++i) {
    low.push_back(i % 2 * n + i / 2);
    high.push_back(low.back() + n / 2);
  }
  for (int step = 1; step < n; step *= 2) {
    std::vector<Value*> next;
    for (int i = 0; i < n / 2; ++i) {
      for (const std::vector<int>& half : {low, high}) {
        next.push_back(b.CreateShuffleVector(v[i], v[i + n / 2], half));
      }
    }
    v = std::move(next);
  }
}

// The same of any; those of 16 bits travel as 32.
void TransposeAny(Builder& b, std::vector<Value*>& v) {
  llvm::Type* type = v[0]->getType();
  if (type->getScalarSizeInBits() == 32) return Transpose(b, v);
  if (type->getScalarSizeInBits() != 16) return TransposeByHalves(b, v);
  llvm::Type* wide = WithElements(type, b.getInt32Ty());
  for (Value*& vector : v) vector = b.CreateZExt(vector, wide);
  Transpose(b, v);
  for (Value*& vector : v) vector = b.CreateTrunc(vector, type);
}

// Element by element of two or three vectors in turn.
Value* Interleave(Builder& b, const std::vector<Value*>& rows) {
  const int lanes = LanesOf(rows[0]);
  const auto count = static_cast<int>(rows.size());
  std::vector<int> both, mask;
  for (int i = 0; i < 2 * lanes; ++i) both.push_back(i);
  Value* pair = b.CreateShuffleVector(rows[0], rows[1], both);
  if (count == 2) {
    for (int i = 0; i < 2 * lanes; ++i) mask.push_back(i % 2 * lanes + i / 2);
    return b.CreateShuffleVector(pair, mask);
  }
  for (int i = 0; i < 3 * lanes; ++i) mask.push_back(i % 3 * lanes + i / 3);
  for (int& i : both) i = i < lanes ? i : -1;
  return b.CreateShuffleVector(pair, b.CreateShuffleVector(rows[2], both), mask);
}

// The first `lanes` elements; what is beyond those there are is undefined.
Value* Resize(Builder& b, Value* v, int64_t lanes) {
  std::vector<int> mask;
  for (int i = 0; i < lanes; ++i) mask.push_back(i < LanesOf(v) ? i : -1);
  return LanesOf(v) == lanes ? v : b.CreateShuffleVector(v, mask);
}

}  // namespace

LaunchEmitter::Tile LaunchEmitter::TileAt(const loop::Buffer& buffer,
                                          const std::vector<loop::Expr>& indices, int64_t stride) {
  const Storage* storage = FindStorage(buffer);
  if (!storage) return {};
  std::optional<Index> first = OffsetOf(buffer, indices, *storage, /*speculative=*/false);
  if (!first) return {};
  return {storage, MemoryType(context_, buffer->dtype), *std::move(first), stride};
}

std::vector<llvm::Value*> LaunchEmitter::LoadTransposed(const Tile& tile, int64_t rows) {
  const int64_t lanes = vector_.lanes;
  const auto width = static_cast<int64_t>(
      std::bit_ceil(static_cast<uint64_t>(std::max({rows, lanes, kPieceElements}))));
  llvm::Type* const element = tile.element;
  Value* pointer = b_.CreateGEP(element, tile.storage->base, index_.Emit(tile.first));
  std::vector<Value*> vectors;
  llvm::Type* whole = Widen(element, static_cast<int>(width));
  for (int64_t lane = 0; lane < width; ++lane) {
    if (lane >= lanes) {
      vectors.push_back(llvm::PoisonValue::get(whole));
      continue;
    }
    Value* at = b_.CreateConstGEP1_64(element, pointer, lane * tile.stride);
    llvm::Instruction* load = nullptr;
    if (std::has_single_bit(static_cast<uint64_t>(rows))) {
      load =
          b_.CreateAlignedLoad(Widen(element, static_cast<int>(rows)), at, AlignOfElement(element));
    } else {
      std::vector<llvm::Constant*> mask;
      for (int64_t i = 0; i < width; ++i) mask.push_back(b_.getInt1(i < rows));
      load = b_.CreateMaskedLoad(whole, at, AlignOfElement(element),
                                 llvm::ConstantVector::get(mask), llvm::PoisonValue::get(whole));
    }
    vectors.push_back(Resize(b_, Annotate(load, *tile.storage, true), width));
  }
  TransposeAny(b_, vectors);
  vectors.resize(static_cast<size_t>(rows));
  for (Value*& vector : vectors) vector = Resize(b_, vector, lanes);
  return vectors;
}

// The vectors of 4 or 2 rows, of which every lane gets as many neighbours.
void LaunchEmitter::StoreRows(const Tile& tile, Value* pointer, std::vector<Value*> rows) {
  llvm::Type* const element = tile.element;
  const auto count = static_cast<int64_t>(rows.size());
  if (count == 4) {
    TransposePieces(b_, rows, 0);
  } else {
    rows = {ShufflePieces(b_, rows[0], rows[1], {0, 4, 1, 5}),
            ShufflePieces(b_, rows[0], rows[1], {2, 6, 3, 7})};
  }
  for (int64_t lane = 0; lane < vector_.lanes; ++lane) {
    const int64_t in_piece = lane % kPieceElements;
    const int64_t vector = count == 4 ? in_piece : in_piece / 2;
    const int64_t first = lane - in_piece + (count == 4 ? 0 : in_piece % 2 * 2);
    std::vector<int> mask;
    for (int64_t i = 0; i < count; ++i) mask.push_back(static_cast<int>(first + i));
    Value* neighbours = b_.CreateShuffleVector(rows[static_cast<size_t>(vector)], mask);
    Value* at = b_.CreateConstGEP1_64(element, pointer, lane * tile.stride);
    Annotate(b_.CreateAlignedStore(neighbours, at, AlignOfElement(element)), *tile.storage, false);
  }
}

void LaunchEmitter::StoreTransposed(const Tile& tile, const std::vector<Value*>& rows) {
  llvm::Type* const element = tile.element;
  Value* pointer = b_.CreateGEP(element, tile.storage->base, index_.Emit(tile.first));
  if (rows.size() < kPieceElements && tile.stride == std::ssize(rows)) {  // without gaps
    Value* all = Interleave(b_, rows);
    Annotate(b_.CreateAlignedStore(all, pointer, AlignOfElement(element)), *tile.storage, false);
    return;
  }
  size_t done = 0;
  for (const size_t count : {4, 2}) {
    for (; done + count <= rows.size(); done += count) {
      const auto first = rows.begin() + static_cast<ptrdiff_t>(done);
      StoreRows(tile, b_.CreateConstGEP1_64(element, pointer, static_cast<int64_t>(done)),
                {first, first + static_cast<ptrdiff_t>(count)});
    }
  }
  for (; done < rows.size(); ++done) {
    for (int64_t lane = 0; lane < vector_.lanes; ++lane) {
      Value* at =
          b_.CreateConstGEP1_64(element, pointer, lane * tile.stride + static_cast<int64_t>(done));
      Value* value = b_.CreateExtractElement(rows[done], static_cast<uint64_t>(lane));
      Annotate(b_.CreateAlignedStore(value, at, AlignOfElement(element)), *tile.storage, false);
    }
  }
}

// One tile: `min` is the index of its first row.
void LaunchEmitter::EmitTransposedTile(const lower::Transposition& plan, const loop::Expr& row,
                                       const Index& min, int64_t rows) {
  const loop::Stmt& store = plan.lanes->body[0];
  // Where lane 0 of the first row is, the others follow from: these are no vectors.
  vars_[row.get()] = min;
  const Index first_lane = *IndexOf(plan.lanes->min);
  vars_[plan.lanes->var.get()] = first_lane;
  BeginStatement();
  Tile target;
  if (plan.store) target = TileAt(store->buffer, store->indices, *plan.store);
  std::vector<std::pair<const loop::ExprNode*, Tile>> sources;
  loop::Walk(store->value, [&](const loop::Expr& e) {
    const auto stride = plan.loads.find(e.get());
    if (stride == plan.loads.end()) return;
    sources.emplace_back(e.get(), TileAt(e->buffer, e->operands, stride->second));
  });
  if (!status_.ok()) return;
  const VectorState outer = vector_;
  BeginLanes(plan.lanes, first_lane, lower::VectorLanesOf(*plan.lanes));
  for (const auto& [load, tile] : sources) {
    if (!transposed_.contains(load)) transposed_[load] = LoadTransposed(tile, rows);
  }
  std::vector<Value*> values;
  for (transposed_row_ = 0; transposed_row_ < rows && status_.ok(); ++transposed_row_) {
    vars_[row.get()] = IndexMath::Sum(min, IndexMath::Constant(transposed_row_));
    if (!plan.store) {
      EmitStmt(store);
      continue;
    }
    BeginStatement();
    Value* value = ToMemory(b_, EmitExpr(store->value), store->buffer->dtype, traits_);
    values.push_back(Splat(b_, value, vector_.lanes));
  }
  transposed_.clear();
  if (plan.store && status_.ok()) StoreTransposed(target, values);
  vector_ = outer;
}

void LaunchEmitter::EmitTransposed(const lower::Transposition& plan, const loop::Expr& row,
                                   const Index& min, int64_t rows) {
  if (plan.between == nullptr) return EmitTransposedTile(plan, row, min, rows);
  int64_t first = 0, tiles = 0;
  loop::IsConstInt(plan.between->min, &first);
  loop::IsConstInt(plan.between->extent, &tiles);
  for (int64_t i = 0; i < tiles && status_.ok(); ++i) {
    vars_[plan.between->var.get()] = IndexMath::Constant(first + i);
    EmitTransposedTile(plan, row, min, rows);
  }
}

}  // namespace hone::codegen
