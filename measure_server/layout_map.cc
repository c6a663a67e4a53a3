#include "measure_server/layout_map.h"

#include <utility>

namespace hone::measure {

LayoutMap::LayoutMap(const Layout& layout, std::vector<int64_t> shape)
    : shape_(std::move(shape)), memory_count_(layout.ElementCount(shape_)) {
  std::vector<int64_t> index(shape_.size(), 0);
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    logical_count_ *= shape_[axis];
    std::vector<int64_t>& terms = terms_.emplace_back();
    terms.reserve(static_cast<size_t>(shape_[axis]));
    for (int64_t i = 0; i < shape_[axis]; ++i) {
      index[axis] = i;
      terms.push_back(layout.Offset(index, shape_));
    }
    index[axis] = 0;
  }
}

LayoutMap LayoutMap::Of(const hone_buffer& buffer) {
  return LayoutMap(*Layout::Parse(buffer.layout, buffer.rank),
                   std::vector<int64_t>(buffer.shape, buffer.shape + buffer.rank));
}

std::vector<int64_t> LayoutMap::PadLanes() const {
  std::vector<int64_t> lanes;
  if (memory_count_ == logical_count_) return lanes;
  std::vector<bool> holds_element(static_cast<size_t>(memory_count_), false);
  ForEach([&](int64_t, int64_t offset) { holds_element[static_cast<size_t>(offset)] = true; });
  for (int64_t offset = 0; offset < memory_count_; ++offset) {
    if (!holds_element[static_cast<size_t>(offset)]) lanes.push_back(offset);
  }
  return lanes;
}

}  // namespace hone::measure
