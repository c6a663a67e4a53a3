// Tiles that are read along one axis and written along another: rows come in, or go out, as vectors
// and are turned in registers, where lanes would gather or scatter single elements.
#include <bit>

#include "compiler/codegen/llvm/launch_emitter.h"
#include "compiler/loop/visit.h"
#include "llvm/IR/Intrinsics.h"

namespace hone::codegen {
namespace {

using llvm::Value;

constexpr int64_t kPiece = 4;  // elements that shuffles move freely: 128 bits, of those of 32

// Which elements of two vectors make one: `pick` says it for each piece of 128 bits.
Value* ShufflePieces(Builder& b, Value* x, Value* y, const std::vector<int>& pick) {
  const int lanes = LanesOf(x);
  std::vector<int> mask;
  for (int piece = 0; piece < lanes; piece += kPiece) {
    for (const int element : pick) {
      mask.push_back(piece + (element < kPiece ? element : lanes + element - int{kPiece}));
    }
  }
  return b.CreateShuffleVector(x, y, mask);
}

// Whole pieces of the two vectors, counted through both.
Value* MovePieces(Builder& b, Value* x, Value* y, const std::vector<int>& pieces) {
  std::vector<int> mask;
  for (const int piece : pieces) {
    for (int i = 0; i < kPiece; ++i) mask.push_back(piece * int{kPiece} + i);
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

// Where the first of `rows` iterations accesses the buffer, if the others do so at its neighbours
// and the lanes lie apart.
std::optional<LaunchEmitter::Tile> LaunchEmitter::TileOf(const loop::Buffer& buffer,
                                                         const std::vector<loop::Expr>& indices,
                                                         const loop::Expr& row, const Index& min,
                                                         int64_t rows) {
  const int64_t bytes = SizeBytes(buffer->dtype);
  const bool fits = std::max<int64_t>(rows, vector_.lanes) * bytes <= traits_.vector_bytes;
  if (bytes > 4 && !fits) return std::nullopt;
  const Storage* storage = FindStorage(buffer);
  if (!storage || storage->copies != 1) return std::nullopt;
  Tile tile;
  tile.storage = storage;
  for (int64_t i = 0; i < rows; ++i) {
    vars_[row.get()] = IndexMath::Sum(min, IndexMath::Constant(i));
    BeginStatement();  // opaque parts of an index are those of this row
    const std::optional<Index> offset = OffsetOf(buffer, indices, *storage, /*speculative=*/true);
    if (!offset || !InBounds(*offset, *storage)) return std::nullopt;
    if (i == 0) {
      tile.stride = offset->CoefficientOf(vector_.lane_atom);
      tile.first = WithoutLanes(*offset, tile.stride);
      if (tile.stride <= 1 || index_.IsVector(tile.first)) return std::nullopt;
      continue;
    }
    const Index step = IndexMath::Sum(WithoutLanes(*offset, tile.stride), tile.first, -1);
    if (!step.IsConstant() || step.constant != i) return std::nullopt;
  }
  return tile;
}

std::vector<llvm::Value*> LaunchEmitter::LoadTransposed(const Tile& tile, llvm::Type* element,
                                                        int64_t rows) {
  const int64_t lanes = vector_.lanes;
  const auto width =
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max({rows, lanes, kPiece}))));
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
void LaunchEmitter::StoreRows(const Tile& tile, llvm::Type* element, Value* pointer,
                              std::vector<Value*> rows) {
  const auto count = static_cast<int64_t>(rows.size());
  if (count == 4) {
    TransposePieces(b_, rows, 0);
  } else {
    rows = {ShufflePieces(b_, rows[0], rows[1], {0, 4, 1, 5}),
            ShufflePieces(b_, rows[0], rows[1], {2, 6, 3, 7})};
  }
  for (int64_t lane = 0; lane < vector_.lanes; ++lane) {
    const int64_t in_piece = lane % kPiece;
    const int64_t vector = count == 4 ? in_piece : in_piece / 2;
    const int64_t first = lane - in_piece + (count == 4 ? 0 : in_piece % 2 * 2);
    std::vector<int> mask;
    for (int64_t i = 0; i < count; ++i) mask.push_back(static_cast<int>(first + i));
    Value* neighbours = b_.CreateShuffleVector(rows[static_cast<size_t>(vector)], mask);
    Value* at = b_.CreateConstGEP1_64(element, pointer, lane * tile.stride);
    Annotate(b_.CreateAlignedStore(neighbours, at, AlignOfElement(element)), *tile.storage, false);
  }
}

void LaunchEmitter::StoreTransposed(const Tile& tile, llvm::Type* element,
                                    const std::vector<Value*>& rows) {
  Value* pointer = b_.CreateGEP(element, tile.storage->base, index_.Emit(tile.first));
  if (rows.size() < kPiece && tile.stride == std::ssize(rows)) {  // without gaps
    Value* all = Interleave(b_, rows);
    Annotate(b_.CreateAlignedStore(all, pointer, AlignOfElement(element)), *tile.storage, false);
    return;
  }
  size_t done = 0;
  for (const size_t count : {4, 2}) {
    for (; done + count <= rows.size(); done += count) {
      const auto first = rows.begin() + static_cast<ptrdiff_t>(done);
      StoreRows(tile, element, b_.CreateConstGEP1_64(element, pointer, static_cast<int64_t>(done)),
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

// Fills transposed_, of one statement.
void LaunchEmitter::FindTransposedLoads(const loop::Stmt& store, const loop::Expr& row,
                                        const Index& min, int64_t rows) {
  if (rows > traits_.vector_bytes / 4) return;
  loop::Walk(store->value, [&](const loop::Expr& e) {
    if (e->kind != loop::ExprKind::kLoad || e->buffer == store->buffer ||
        transposed_.contains(e.get())) {
      return;
    }
    if (const std::optional<Tile> tile = TileOf(e->buffer, e->operands, row, min, rows)) {
      transposed_[e.get()] = LoadTransposed(*tile, MemoryType(context_, e->dtype), rows);
    }
  });
}

namespace {

// A vectorised loop of so many lanes around a store; else 0.
int64_t LanesOfStore(const loop::Stmt& s) {
  int64_t lanes = 0, first = 0;
  const bool fits = s->kind == loop::StmtKind::kFor && s->loop_kind == loop::LoopKind::kVectorize &&
                    s->body[0]->kind == loop::StmtKind::kStore &&
                    loop::IsConstInt(s->extent, &lanes) && loop::IsConstInt(s->min, &first);
  return fits ? lanes : 0;
}

bool LoadsItself(const loop::Stmt& store) {
  bool loads = false;
  loop::Walk(store->value, [&](const loop::Expr& e) {
    loads = loads || (e->kind == loop::ExprKind::kLoad && e->buffer == store->buffer);
  });
  return loads;
}

}  // namespace

// An unrolled loop around a vectorised one around a store, with another unrolled one between them
// or without.
bool LaunchEmitter::EmitTransposedStores(const loop::Stmt& s, const Index& min, int64_t rows) {
  const loop::Stmt& below = s->body[0];
  int64_t count = 1, first = 0;
  const bool between =
      below->kind == loop::StmtKind::kFor && below->loop_kind == loop::LoopKind::kUnroll &&
      loop::IsConstInt(below->extent, &count) && loop::IsConstInt(below->min, &first);
  const loop::Stmt& inner = between ? below->body[0] : below;
  const int64_t lanes = LanesOfStore(inner);
  constexpr int64_t kMostRows = 32;
  if (vector_.lanes > 1 || vector_.mask || rows < 2 || rows > kMostRows || lanes < kPiece ||
      lanes % kPiece != 0 || lanes > traits_.vector_bytes / 4 || LoadsItself(inner->body[0])) {
    return false;
  }
  const loop::Stmt& store = inner->body[0];
  const auto at = [&](int64_t i) {
    if (between) vars_[below->var.get()] = IndexMath::Constant(first + i);
    BeginStatement();
  };
  const VectorState outer = vector_;
  BeginLanes(inner, *IndexOf(inner->min), lanes);
  std::vector<Tile> tiles;
  for (int64_t i = 0; i < count; ++i) {
    at(i);
    const std::optional<Tile> tile = TileOf(store->buffer, store->indices, s->var, min, rows);
    if (!tile || tile->stride < rows) break;  // each element is of one row
    tiles.push_back(*tile);
  }
  const bool found = tiles.size() == static_cast<size_t>(count);
  llvm::Type* element = MemoryType(context_, store->buffer->dtype);
  for (int64_t i = 0; found && i < count; ++i) {
    at(i);
    FindTransposedLoads(store, s->var, min, rows);
    std::vector<Value*> values;
    for (transposed_row_ = 0; transposed_row_ < rows && status_.ok(); ++transposed_row_) {
      vars_[s->var.get()] = IndexMath::Sum(min, IndexMath::Constant(transposed_row_));
      ++unrolled_statements_;
      BeginStatement();
      Value* value = ToMemory(b_, EmitExpr(store->value), store->buffer->dtype, traits_);
      values.push_back(Splat(b_, value, vector_.lanes));
    }
    transposed_.clear();
    if (status_.ok()) StoreTransposed(tiles[static_cast<size_t>(i)], element, values);
  }
  vector_ = outer;
  return found;
}

// An unrolled loop around a vectorised one around a store.
bool LaunchEmitter::EmitTransposing(const loop::Stmt& s, const Index& min, int64_t rows) {
  if (EmitTransposedStores(s, min, rows)) return true;
  const loop::Stmt& inner = s->body[0];
  const int64_t lanes = LanesOfStore(inner);
  const int64_t most = traits_.vector_bytes / 4;
  if (vector_.lanes > 1 || vector_.mask || rows < 2 || lanes < 2 || rows > most || lanes > most) {
    return false;
  }
  const VectorState outer = vector_;
  BeginLanes(inner, *IndexOf(inner->min), lanes);
  FindTransposedLoads(inner->body[0], s->var, min, rows);
  vector_ = outer;
  if (transposed_.empty()) return false;
  for (transposed_row_ = 0; transposed_row_ < rows && status_.ok(); ++transposed_row_) {
    vars_[s->var.get()] = IndexMath::Sum(min, IndexMath::Constant(transposed_row_));
    ++unrolled_statements_;
    EmitStmt(inner);
  }
  transposed_.clear();
  return true;
}

}  // namespace hone::codegen
