// What schedules ask of nests. Every answer may be "unknown", and never wrong otherwise.
#ifndef HONE_COMPILER_LOOP_ANALYSIS_H_
#define HONE_COMPILER_LOOP_ANALYSIS_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/loop/bounds.h"
#include "compiler/loop/stmt.h"
#include "compiler/loop/visit.h"

namespace hone::loop {

// By how much `index` grows when `var` grows by one; nullopt where it is not linear in it.
std::optional<int64_t> Coefficient(const Expr& index, const Expr& var);

// By how many elements an access moves in memory when `var` grows by one, by the buffer's layout.
std::optional<int64_t> ElementStride(const BufferNode& buffer, const std::vector<Expr>& indices,
                                     const Expr& var, const Bounds& bounds);

// Buffers that a statement touches and does not allocate itself, each once, in order of appearance.
std::vector<Buffer> ReadBuffers(const Stmt& s);
std::vector<Buffer> WrittenBuffers(const Stmt& s);

// A box of a buffer: per dimension from `min`, an expression of variables bound outside the
// statement, `extent` elements. It may reach beyond the buffer where accesses are guarded by
// conditions.
struct Region {
  std::vector<Expr> min;
  std::vector<int64_t> extent;
};
enum class AccessKind { kRead, kWrite, kAny };
// A box that holds every element of `buffer` that `s` touches; a dimension of which nothing better
// is known has its whole padded extent. nullopt: `s` does not touch it. `outer`: ranges of the
// variables bound outside.
std::optional<Region> TouchedRegion(const Stmt& s, const Buffer& buffer, AccessKind kind,
                                    const Bounds& outer);

// A store X[f] = X[f] op v, v not reading X, with op one of + * min max.
struct Accumulation {
  BinaryOp op;
  Expr value;  // v
};
std::optional<Accumulation> AsAccumulation(const StmtNode& store);

// What the iterations of a loop have to do with each other.
enum class LoopDependence {
  kIndependent,  // may run in any order, in parallel or as lanes
  kReduction,    // but for accumulations into the same elements, independent
  kUnknown,
};
struct LoopAnalysis {
  LoopDependence dependence = LoopDependence::kIndependent;
  std::vector<Buffer> reduced;  // kReduction: what is accumulated into
  std::string reason;           // why it is not independent, for messages
};
LoopAnalysis AnalyseLoop(const Stmt& loop, const Bounds& outer);

// The statement with all its loops starting at zero, under new variables of the same names.
Stmt ZeroBasedLoops(const Stmt& s);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_ANALYSIS_H_
