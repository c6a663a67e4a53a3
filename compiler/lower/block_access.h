// What the threads of a block touch of the memory that they share.
#ifndef HONE_COMPILER_LOWER_BLOCK_ACCESS_H_
#define HONE_COMPILER_LOWER_BLOCK_ACCESS_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "compiler/loop/stmt.h"

namespace hone::lower {

// An index of a buffer's first axis: the value of a loop's variable plus `offset`, modulo the
// axis's extent; `offset` alone where there is no variable.
struct Slot {
  const loop::ExprNode* var = nullptr;
  int64_t offset = 0;  // from 0, below the extent

  auto operator<=>(const Slot&) const = default;
};
// nullopt where the first index has another form, or the buffer no axes.
std::optional<Slot> SlotOf(const loop::BufferNode& buffer, const std::vector<loop::Expr>& indices);

// Global and shared buffers that statements read and write, and in which slots as far as these are
// known. A value type that points into the statements.
class BlockAccess {
 public:
  using Variables = absl::flat_hash_set<const loop::ExprNode*>;

  BlockAccess() = default;
  // A slot is known if it is a constant or its variable is one of `loops`, which are those of loops
  // around the statement.
  BlockAccess(const loop::Stmt& s, const Variables& loops);

  void Add(const BlockAccess& other);
  // Whether one reads what the other writes, or both write it.
  bool DependsOn(const BlockAccess& earlier) const;
  // The same accesses, with their slots in terms of the value that the variable has in the next
  // iteration of its loop: slot var + c becomes var + c - 1.
  BlockAccess InNextIteration(const loop::ExprNode* var) const;
  // The same behind the loop of that variable, where slots that depend on it are not known.
  BlockAccess BehindLoop(const loop::ExprNode* var) const;

  bool WritesShared() const;
  // Whether it touches a shared buffer that is not one of `live`.
  bool TouchesSharedBut(const std::set<const loop::BufferNode*>& live) const;

  bool operator==(const BlockAccess&) const = default;

 private:
  struct Place {
    const loop::BufferNode* buffer = nullptr;
    std::optional<Slot> slot;  // nullopt: any

    auto operator<=>(const Place&) const = default;
    bool Meets(const Place& other) const;
  };
  using Places = std::set<Place>;

  static bool Meet(const Places& a, const Places& b);
  template <typename Change>
  BlockAccess WithSlots(const Change& change) const;

  Places read_;
  Places written_;
};

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_BLOCK_ACCESS_H_
