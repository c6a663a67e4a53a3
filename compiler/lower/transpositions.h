// Decides which tiles of memory are transposed in registers.
//
// An unrolled loop around a vectorised one may access neighbouring elements with its iterations
// (the rows below), while lanes are further apart. Whole vectors of neighbours are then loaded or
// stored, and transposed in registers, where lanes would otherwise gather or scatter elements.
#ifndef HONE_COMPILER_LOWER_TRANSPOSITIONS_H_
#define HONE_COMPILER_LOWER_TRANSPOSITIONS_H_

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/stmt.h"

namespace hone::lower {

// Vector instructions permute elements freely only within pieces of 128 bits. A piece has so many
// elements of 32 bits.
inline constexpr int64_t kPieceElements = 4;

struct Transposition {
  // What is inside the unrolled loop: another unrolled loop or null, then the vectorised loop,
  // which has only a store in it.
  loop::Stmt between;
  loop::Stmt lanes;
  // The transposed accesses, with the distance of one lane from the next in elements.
  absl::flat_hash_map<const loop::ExprNode*, int64_t> loads;
  std::optional<int64_t> store;  // nullopt: the store is not transposed
};

// By the unrolled loop.
using TranspositionPlan = absl::flat_hash_map<const loop::StmtNode*, Transposition>;

// `outside` are the bounds of the variables around `body`; `vector_bytes` is the size of a vector
// register: a thread of a GPU has registers of one element, and transposes nothing.
TranspositionPlan PlanTranspositions(const loop::Stmt& body, const loop::Bounds& outside,
                                     int64_t vector_bytes);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_TRANSPOSITIONS_H_
