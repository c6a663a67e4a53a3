// NumPy's .npy: a magic, a version, a header that is a Python dict, then the elements.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cstring>

#include "compiler/frontend/tensor_file.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct Descr {
  std::string_view text;
  DataType dtype;
};
constexpr std::array<Descr, 13> kDescrs = {{{"<f4", DataType::kFloat32},
                                            {"<f8", DataType::kFloat64},
                                            {"<f2", DataType::kFloat16},
                                            {"|i1", DataType::kInt8},
                                            {"<i2", DataType::kInt16},
                                            {"<i4", DataType::kInt32},
                                            {"<i8", DataType::kInt64},
                                            {"|u1", DataType::kUInt8},
                                            {"<u2", DataType::kUInt16},
                                            {"<u4", DataType::kUInt32},
                                            {"<u8", DataType::kUInt64},
                                            {"|b1", DataType::kBool},
                                            {"<V2", DataType::kBFloat16}}};

absl::Status Damaged(const std::string& why) {
  return absl::InvalidArgumentError("not a .npy tensor: " + why);
}

// What stands behind 'key': in the header's dict, up to the next comma outside parentheses.
absl::StatusOr<std::string_view> Entry(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return Damaged(fmt::format("its header has no '{}'", key));
  std::string_view rest = header.substr(at + key.size() + 3);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  const size_t end = rest.starts_with('(') ? rest.find(')') : rest.find_first_of(",}");
  if (end == std::string_view::npos) return Damaged(fmt::format("its '{}' has no end", key));
  return rest.substr(0, rest.starts_with('(') ? end + 1 : end);
}

absl::StatusOr<DataType> ParseDescr(std::string_view text) {
  for (const Descr& descr : kDescrs) {
    if (text == fmt::format("'{}'", descr.text)) return descr.dtype;
  }
  return Damaged(
      fmt::format("element type {} was found, one of little-endian f2, f4, f8, i1, i2, "
                  "i4, i8, u1, u2, u4, u8, b1 was expected",
                  text));
}

absl::StatusOr<std::vector<int64_t>> ParseShape(std::string_view text) {
  std::vector<int64_t> shape;
  for (size_t i = 1; i < text.size();) {
    if (text[i] == ' ' || text[i] == ',' || text[i] == ')') {
      ++i;
      continue;
    }
    int64_t extent = -1;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0) {
      return Damaged(fmt::format("shape {} was found", text));
    }
    shape.push_back(extent);
    i = static_cast<size_t>(end - text.data());
  }
  return shape;
}

// The header's text; what follows it is left in `bytes`.
absl::StatusOr<std::string_view> TakeHeader(std::string_view* bytes) {
  if (!bytes->starts_with(kMagic) || bytes->size() < 12) return Damaged("it lacks the magic");
  const int version = static_cast<uint8_t>((*bytes)[6]);
  if (version != 1 && version != 2) {
    return Damaged(fmt::format("version 1 or 2 was expected, found {}", version));
  }
  const size_t width = version == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = 0; i < width; ++i) {
    length |= static_cast<size_t>(static_cast<uint8_t>((*bytes)[8 + i])) << (8 * i);
  }
  bytes->remove_prefix(8 + width);
  if (length > bytes->size()) return Damaged("it ends within its header");
  const std::string_view header = bytes->substr(0, length);
  bytes->remove_prefix(length);
  return header;
}

}  // namespace

absl::StatusOr<TensorData> ParseNpy(std::string_view bytes) {
  HONE_ASSIGN_OR_RETURN(const std::string_view header, TakeHeader(&bytes));
  HONE_ASSIGN_OR_RETURN(const std::string_view descr, Entry(header, "descr"));
  HONE_ASSIGN_OR_RETURN(const std::string_view fortran, Entry(header, "fortran_order"));
  HONE_ASSIGN_OR_RETURN(const std::string_view shape, Entry(header, "shape"));
  TensorData tensor;
  HONE_ASSIGN_OR_RETURN(tensor.dtype, ParseDescr(descr));
  HONE_ASSIGN_OR_RETURN(tensor.shape, ParseShape(shape));
  if (fortran != "False" && tensor.shape.size() > 1) {
    return Damaged(
        "its elements are in Fortran order; save numpy.ascontiguousarray(a), which is in C order");
  }
  HONE_ASSIGN_OR_RETURN(const int64_t size, TensorBytes(tensor.shape, tensor.dtype));
  if (static_cast<size_t>(size) != bytes.size()) {
    return Damaged(fmt::format("{} bytes of elements were expected for shape {}, found {}", size,
                               shape, bytes.size()));
  }
  tensor.bytes = std::string(bytes);
  return tensor;
}

std::string SerializeNpy(const TensorData& tensor) {
  std::string_view text;
  for (const Descr& descr : kDescrs) {
    if (descr.dtype == tensor.dtype) text = descr.text;
  }
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", text,
                  fmt::join(tensor.shape, ", "), tensor.shape.size() == 1 ? "," : "");
  constexpr size_t kPrefix = 10;
  header.resize((header.size() + 1 + kPrefix + 63) / 64 * 64 - kPrefix - 1, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += '\x01';
  bytes += '\x00';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + tensor.bytes;
}

}  // namespace hone::frontend
