// Walks the logical elements of a tensor in row-major order, with their places in memory.
#ifndef HONE_MEASURE_SERVER_LAYOUT_MAP_H_
#define HONE_MEASURE_SERVER_LAYOUT_MAP_H_

#include <cstdint>
#include <vector>

#include "runtime/layout.h"
#include "runtime/module_abi.h"

namespace hone::measure {

// Layout::Offset is a sum of one term for each axis. This tabulates the terms, so that a walk costs
// one look-up for each element.
class LayoutMap {
 public:
  LayoutMap(const Layout& layout, std::vector<int64_t> shape);
  // The map of a buffer of a checked module.
  static LayoutMap Of(const hone_buffer& buffer);

  int64_t logical_count() const { return logical_count_; }
  int64_t memory_count() const { return memory_count_; }  // pad lanes included
  const std::vector<int64_t>& shape() const { return shape_; }

  // Calls f(linear, offset) for each element, with its row-major number and its offset in memory,
  // in elements.
  template <typename F>
  void ForEach(F f) const {
    if (shape_.empty()) return f(int64_t{0}, int64_t{0});
    const std::vector<int64_t>& inner = terms_.back();
    ForEachRow([&](int64_t linear, int64_t base) {
      for (int64_t i = 0; i < shape_.back(); ++i) f(linear + i, base + inner[i]);
    });
  }

  // Whether the elements of a row (along the last axis) are side by side in memory.
  bool HasContiguousRows() const {
    if (shape_.empty()) return false;
    const std::vector<int64_t>& inner = terms_.back();
    for (size_t i = 0; i < inner.size(); ++i) {
      if (inner[i] != static_cast<int64_t>(i)) return false;
    }
    return true;
  }
  // The offsets of the elements of a row from its base (ForEachRow). The tensor must have an axis.
  const std::vector<int64_t>& row_terms() const { return terms_.back(); }
  // Calls f(linear, base) for each row, with the row-major number of its first element; element i
  // is at offset base + row_terms()[i]. The tensor must have an axis.
  template <typename F>
  void ForEachRow(F f) const {
    if (logical_count_ == 0) return;
    std::vector<int64_t> index(shape_.size(), 0);
    for (int64_t linear = 0; linear < logical_count_; linear += shape_.back()) {
      int64_t base = 0;
      for (size_t axis = 0; axis + 1 < shape_.size(); ++axis) base += terms_[axis][index[axis]];
      f(linear, base);
      for (size_t axis = shape_.size() - 1; axis-- > 0;) {
        if (++index[axis] < shape_[axis]) break;
        index[axis] = 0;
      }
    }
  }

  // The offsets that hold no logical element, ascending.
  std::vector<int64_t> PadLanes() const;

 private:
  std::vector<int64_t> shape_;
  std::vector<std::vector<int64_t>> terms_;  // [axis][index]
  int64_t logical_count_ = 1;
  int64_t memory_count_ = 1;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_LAYOUT_MAP_H_
