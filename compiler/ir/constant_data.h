// The bytes of constants.
#ifndef HONE_COMPILER_IR_CONSTANT_DATA_H_
#define HONE_COMPILER_IR_CONSTANT_DATA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace hone::ir {

// Row-major, little-endian. A value type whose copies share the bytes, so that passes copy no
// weights; any thread may read. They are a view (of a mapped file, perhaps), or computed when they
// are first read: a pass that changes all weights of a model would else fill as much fresh memory,
// and what is never read (where a model is only shown) would be computed for nothing.
class ConstantData {
 public:
  ConstantData() = default;
  // `owner` keeps `bytes` alive.
  ConstantData(std::shared_ptr<const void> owner, const uint8_t* bytes, size_t size_bytes);
  // What `change` makes of a copy of the bytes of `base`, the same each time it is called; computed
  // when they are read. `base` is let go of with the first call of bytes().
  static ConstantData Changed(const ConstantData& base, std::function<void(uint8_t* bytes)> change);

  // They have no alignment, and live as long as any copy of this.
  const uint8_t* bytes() const;
  size_t size_bytes() const { return size_bytes_; }
  // The bytes; changed ones that nobody has read yet are computed at `to` and not kept.
  void CopyTo(uint8_t* to) const;
  // Equal where two share their bytes; nothing is computed for it.
  const void* identity() const;
  // Changed, and not yet computed.
  bool IsPending() const;

 private:
  class Change;
  std::shared_ptr<const void> owner_;
  const uint8_t* bytes_ = nullptr;  // null where they are computed
  std::shared_ptr<Change> change_;
  size_t size_bytes_ = 0;
};

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_CONSTANT_DATA_H_
