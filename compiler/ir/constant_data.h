// The bytes of constants.
#ifndef HONE_COMPILER_IR_CONSTANT_DATA_H_
#define HONE_COMPILER_IR_CONSTANT_DATA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace hone::ir {

// The bytes of a constant, row-major and little-endian. A value type whose copies share the bytes,
// so that passes copy no weights. Any thread may read. The bytes are either a view (for instance of
// a mapped file), or are computed when they are first read. Computing them late saves memory when a
// pass changes all weights of a model, and time when they are never read, as when a model is only
// shown.
class ConstantData {
 public:
  ConstantData() = default;
  // `owner` keeps `bytes` alive.
  ConstantData(std::shared_ptr<const void> owner, const uint8_t* bytes, size_t size_bytes);
  // The bytes that `change` makes of a copy of those of `base`, computed when they are first read.
  // `change` must give the same result each time it is called. `base` is released with the first
  // call of bytes().
  static ConstantData Changed(const ConstantData& base, std::function<void(uint8_t* bytes)> change);

  // The bytes need not be aligned, and live as long as any copy of this object.
  const uint8_t* bytes() const;
  size_t size_bytes() const { return size_bytes_; }
  // Copies the bytes. If they are still to be computed, they are computed at `to` and not kept.
  void CopyTo(uint8_t* to) const;
  // Equal for two objects that share their bytes. Does not compute them.
  const void* identity() const;
  // Whether the bytes are still to be computed.
  bool IsPending() const;

 private:
  class Change;
  std::shared_ptr<const void> owner_;
  const uint8_t* bytes_ = nullptr;  // null if they are computed
  std::shared_ptr<Change> change_;
  size_t size_bytes_ = 0;
};

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_CONSTANT_DATA_H_
