// Interval analysis of index expressions.
#ifndef HONE_COMPILER_LOOP_BOUNDS_H_
#define HONE_COMPILER_LOOP_BOUNDS_H_

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/linear.h"
#include "compiler/loop/stmt.h"

namespace hone::loop {

// Both ends belong to it.
struct Interval {
  int64_t min = 0;
  int64_t max = 0;
  bool operator==(const Interval&) const = default;
};

// What is known of variables, by their nodes.
using Bounds = absl::flat_hash_map<const ExprNode*, Interval>;

// Values that an integer or bool expression can take; nullopt: unknown. Never too narrow.
std::optional<Interval> BoundsOf(const Expr& e, const Bounds& bounds);
std::optional<Interval> BoundsOf(const Linear& linear, const Bounds& bounds);

// Values that the variable of a loop takes; nullopt also where the loop does not run.
std::optional<Interval> LoopBounds(const StmtNode& loop, const Bounds& outer);

// What holds of a comparison, kAnd, kOr or kNot; nullopt: unknown.
std::optional<bool> Decide(const Expr& condition, const Bounds& bounds);

// Narrows `bounds` by what `condition` being `truth` says of variables.
void Assume(const Expr& condition, bool truth, Bounds& bounds);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_BOUNDS_H_
