// Statements of the loop-nest IR, and the nest: a kernel as launches. Immutable and shared.
#ifndef HONE_COMPILER_LOOP_STMT_H_
#define HONE_COMPILER_LOOP_STMT_H_

#include <memory>
#include <string>
#include <vector>

#include "compiler/loop/expr.h"

namespace hone::loop {

// kCommit and kBarrier are for lowered launches, not for schedules. A thread may begin copies to
// shared memory and go on (docs/decisions/0042-copies-in-stages.md). kCommit makes a group of those
// that it has begun since the last kCommit. At kBarrier the threads of a block wait for each other,
// and before that each for all of its groups but the latest `pending`.
enum class StmtKind { kFor, kStore, kSeq, kIf, kWhile, kAlloc, kBarrier, kPrefetch, kCommit };

// kParallel loops are the outermost of a launch, perfectly nested: together they are its grid.
// kThread: the iterations are threads that work on one index of the grid together, and are
// independent; extent constant (docs/decisions/0038-threads-that-share.md).
// kVectorize: the iterations are the lanes of one vector; extent constant. kUnroll: extent
// constant. kDot: four steps of a sum of products of bytes in int32, or two of bfloat16 or float16
// in float32, which become one dot product where the target has an instruction for it; the steps
// of a factor are neighbours in memory, or bytes of one int32 (accumulation.h). kTile: rows of one
// operation of tile registers (tile_operation.h).
// A kind's number is a feature (features.h): new ones come last.
enum class LoopKind { kSerial, kParallel, kVectorize, kUnroll, kDot, kTile, kThread };

struct StmtNode;
using Stmt = std::shared_ptr<const StmtNode>;

// One node type for all kinds: `kind` says which fields hold a value.
struct StmtNode {
  StmtKind kind;

  Expr var;                                // kFor: takes min, min + 1, ..., min + extent - 1
  Expr min;                                // kFor
  Expr extent;                             // kFor; may depend on outer variables and loads
  LoopKind loop_kind = LoopKind::kSerial;  // kFor

  Buffer buffer;  // kStore, kAlloc (any scope but global; undefined contents), kPrefetch
  std::vector<Expr> indices;  // kStore, kPrefetch
  Expr value;                 // kStore
  int locality = 0;           // kPrefetch: 3 = L1, 2 = L2, 1 = L3

  int pending = 0;  // kBarrier

  Expr condition;  // kIf, kWhile
  std::vector<Stmt>
      body;  // kFor, kAlloc, kWhile: 1. kIf: 1 or 2 (then, otherwise). kSeq: any number
};

Stmt For(Expr var, Expr min, Expr extent, Stmt body, LoopKind kind = LoopKind::kSerial);
Stmt Store(Buffer buffer, std::vector<Expr> indices, Expr value);
Stmt Seq(std::vector<Stmt> stmts);  // flattens nested sequences; of one, that one
bool IsEmpty(const Stmt& s);        // a sequence of nothing
Stmt If(Expr condition, Stmt then, Stmt otherwise = nullptr);
Stmt While(Expr condition, Stmt body);
Stmt Alloc(Buffer buffer, Stmt body);
Stmt Barrier(int pending = 0);
Stmt Commit();
Stmt Prefetch(Buffer buffer, std::vector<Expr> indices, int locality);

enum class Phase { kPrepare, kRun };

// One entry of the launch table. Launches run in order, each sees what those before it wrote.
struct Launch {
  std::string name;
  Phase phase = Phase::kRun;
  Stmt body;
};

// A kernel. `buffers` are its global buffers in the order of the module's buffer table: inputs and
// constants in the order of the fused function's parameters, then prepared, workspace, and the
// outputs last. Loop variables have names unique within a nest. A value: copies share structure.
struct Nest {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Launch> launches;
};

// ---- text: prints and parses back to an equal nest; docs/loop-nests.md has the grammar ----
std::string ToText(const Nest& nest);
std::string ToText(const Stmt& stmt, int indent = 0);
std::string ToText(const Expr& expr);
// ToText with kernel, launches, variables and buffers renamed in the order of their appearance, so
// that nests that differ only in names have the same text. Nest digests are taken from it.
std::string ToCanonicalText(const Nest& nest);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_STMT_H_
