#include "runtime/layout.h"

#include <cctype>

namespace hone {

std::string AxisLetters(int rank) {
  switch (rank) {
    case 0:
      return "";
    case 1:
      return "C";
    case 2:
      return "NC";
    case 3:
      return "NCW";
    case 4:
      return "NCHW";
    case 5:
      return "NCDHW";
    default:
      break;
  }
  std::string letters;
  for (int i = 0; i < rank && i < 26; ++i) letters.push_back(static_cast<char>('A' + i));
  return letters;
}

Layout Layout::RowMajor(int rank) {
  Layout layout;
  layout.rank_ = rank;
  for (int axis = 0; axis < rank; ++axis) layout.dims_.push_back({axis, 0});
  return layout;
}

std::optional<Layout> Layout::Parse(std::string_view text, int rank) {
  if (rank < 0 || rank > kMaxRank) return std::nullopt;
  const std::string letters = AxisLetters(rank);
  Layout layout;
  layout.rank_ = rank;
  std::vector<bool> seen(rank, false);
  std::vector<int64_t> blocks(rank, 1);
  int64_t factor = 0;
  for (char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c))) {
      if (factor == 0 && c == '0') return std::nullopt;
      factor = factor * 10 + (c - '0');
      if (factor > kMaxBlock) return std::nullopt;
      continue;
    }
    const size_t axis =
        letters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
    if (axis == std::string::npos) return std::nullopt;
    if (std::isupper(static_cast<unsigned char>(c))) {
      if (factor != 0 || seen[axis]) return std::nullopt;
      seen[axis] = true;
    } else {
      if (factor < 2 || !seen[axis]) return std::nullopt;
      blocks[axis] *= factor;
      if (blocks[axis] > kMaxBlock) return std::nullopt;
    }
    layout.dims_.push_back({static_cast<int>(axis), factor});
    factor = 0;
  }
  if (factor != 0) return std::nullopt;
  for (bool axis_seen : seen) {
    if (!axis_seen) return std::nullopt;
  }
  return layout;
}

bool Layout::IsRowMajor() const { return *this == RowMajor(rank_); }

std::string Layout::ToString() const {
  const std::string letters = AxisLetters(rank_);
  std::string text;
  for (const Dim& dim : dims_) {
    if (dim.factor == 0) {
      text.push_back(letters[dim.axis]);
    } else {
      text += std::to_string(dim.factor);
      text.push_back(
          static_cast<char>(std::tolower(static_cast<unsigned char>(letters[dim.axis]))));
    }
  }
  return text;
}

int64_t Layout::BlockOf(int axis) const {
  int64_t block = 1;
  for (const Dim& dim : dims_) {
    if (dim.axis == axis && dim.factor != 0) block *= dim.factor;
  }
  return block;
}

int64_t Layout::PaddedExtent(int axis, int64_t extent) const {
  const int64_t block = BlockOf(axis);
  return (extent + block - 1) / block * block;
}

std::vector<int64_t> Layout::PhysicalShape(const std::vector<int64_t>& shape) const {
  std::vector<int64_t> physical;
  physical.reserve(dims_.size());
  for (const Dim& dim : dims_) {
    physical.push_back(
        dim.factor != 0 ? dim.factor : PaddedExtent(dim.axis, shape[dim.axis]) / BlockOf(dim.axis));
  }
  return physical;
}

int64_t Layout::ElementCount(const std::vector<int64_t>& shape) const {
  int64_t count = 1;
  for (int64_t extent : PhysicalShape(shape)) count *= extent;
  return count;
}

bool Layout::HasPadLanes(const std::vector<int64_t>& shape) const {
  return ElementCount(shape) != RowMajor(rank_).ElementCount(shape);
}

int64_t Layout::SizeBytes(const std::vector<int64_t>& shape, DataType dtype) const {
  return ElementCount(shape) * hone::SizeBytes(dtype);
}

int64_t Layout::Offset(const std::vector<int64_t>& index, const std::vector<int64_t>& shape) const {
  const std::vector<int64_t> physical = PhysicalShape(shape);
  std::vector<int64_t> rest = index;
  int64_t offset = 0;
  int64_t stride = 1;
  for (size_t i = dims_.size();
       i-- > 0;) {  // innermost first: blocks divide what is left of an axis
    const Dim& dim = dims_[i];
    const int64_t digit = dim.factor != 0 ? rest[dim.axis] % dim.factor : rest[dim.axis];
    if (dim.factor != 0) rest[dim.axis] /= dim.factor;
    offset += digit * stride;
    stride *= physical[i];
  }
  return offset;
}

}  // namespace hone
