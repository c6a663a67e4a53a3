// A layout says where the elements of a tensor are in memory: it maps logical indices to physical
// dimensions. Compute definitions use logical indices only.
#ifndef HONE_RUNTIME_LAYOUT_H_
#define HONE_RUNTIME_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data_type.h"

namespace hone {

// Immutable value. The text form names the logical axes by position, with letters that depend on
// the rank alone: "" (0), "C" (1), "NC" (2), "NCW" (3), "NCHW" (4), "NCDHW" (5), "ABCDEF..." (6 and
// more). A physical dimension is an axis letter (the axis, or what its blocks leave of it) or a
// block, written as a factor and the axis letter in lower case. The text has the outermost
// dimension first: "NCHW" is row-major, "NHWC" has channels innermost, "NCHW16c" blocks channels by
// 16, "NCHW4h16c" has two blocks. An axis may have several blocks, whose factors multiply from the
// innermost outwards: in "NC2c16c", c = (C * 2 + c2) * 16 + c16.
//
// The padded extent of an axis is its logical extent rounded up to a multiple of the product of its
// blocks. The elements added in this way, the pad lanes, are zero whenever a buffer is visible
// between kernels.
class Layout {
 public:
  struct Dim {
    int axis = 0;        // logical axis
    int64_t factor = 0;  // 0: the outer rest of the axis; otherwise a block of this extent
    bool operator==(const Dim&) const = default;
  };

  static constexpr int kMaxRank = 26;  // each axis has a letter of its own
  // The largest product of the blocks of one axis.
  static constexpr int64_t kMaxBlock = int64_t{1} << 20;

  Layout() = default;  // rank 0

  static Layout RowMajor(int rank);
  // nullopt if the text is not a layout of `rank` axes (each axis letter exactly once, factors at
  // least 2 without leading zeros), or if it exceeds the limits above.
  static std::optional<Layout> Parse(std::string_view text, int rank);

  int rank() const { return rank_; }
  const std::vector<Dim>& dims() const { return dims_; }  // outermost first
  bool IsRowMajor() const;
  std::string ToString() const;

  // Product of the blocks of `axis`; 1 if it has none.
  int64_t BlockOf(int axis) const;
  // `extent` rounded up to a multiple of BlockOf(axis).
  int64_t PaddedExtent(int axis, int64_t extent) const;
  // Extents of the physical dimensions for a logical shape, in the order of dims().
  std::vector<int64_t> PhysicalShape(const std::vector<int64_t>& shape) const;
  // Elements in memory, pad lanes included.
  int64_t ElementCount(const std::vector<int64_t>& shape) const;
  // Whether some of the elements in memory are pad lanes.
  bool HasPadLanes(const std::vector<int64_t>& shape) const;
  // Bytes of all elements in memory.
  int64_t SizeBytes(const std::vector<int64_t>& shape, DataType dtype) const;
  // Position of a logical index in memory, in elements. Each index must be below its axis's padded
  // extent.
  int64_t Offset(const std::vector<int64_t>& index, const std::vector<int64_t>& shape) const;

  bool operator==(const Layout&) const = default;

 private:
  int rank_ = 0;
  std::vector<Dim> dims_;
};

// The letters of a rank's logical axes, "NCHW" for 4.
std::string AxisLetters(int rank);

}  // namespace hone

#endif  // HONE_RUNTIME_LAYOUT_H_
