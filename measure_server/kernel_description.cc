#include "measure_server/kernel_description.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "runtime/module.h"

namespace hone::measure {
namespace {

class Writer {
 public:
  template <typename T>
  void Number(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Text(std::string_view text) {
    Number(static_cast<uint32_t>(text.size()));
    bytes_.append(text);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads zeros beyond the end, and remembers that.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T Number() {
    T value{};
    const std::string_view bytes = Bytes(sizeof(value));
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
  std::string Text() { return std::string(Bytes(Number<uint32_t>())); }
  bool ok() const { return ok_; }
  bool is_at_end() const { return bytes_.empty(); }

 private:
  std::string_view Bytes(size_t count) {
    ok_ = ok_ && count <= bytes_.size();
    if (!ok_) return {};
    const std::string_view bytes = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return bytes;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace

std::string KernelDescription::Encode(const hone_kernel& kernel) {
  Writer writer;
  writer.Number(kernel.error_bound);
  writer.Number(kernel.buffer_count);
  for (uint32_t b = 0; b < kernel.buffer_count; ++b) {
    const hone_buffer& buffer = kernel.buffers[b];
    writer.Text(buffer.name);
    writer.Text(buffer.layout);
    writer.Number(buffer.role);
    writer.Number(buffer.dtype);
    writer.Number(buffer.flags);
    writer.Number(buffer.size_bytes);
    writer.Number(buffer.rank);
    for (uint32_t axis = 0; axis < buffer.rank; ++axis) writer.Number(buffer.shape[axis]);
  }
  return writer.Take();
}

std::optional<KernelDescription> KernelDescription::Decode(std::string_view bytes) {
  Reader reader(bytes);
  KernelDescription description;
  description.error_bound_ = reader.Number<double>();
  const auto count = reader.Number<uint32_t>();
  for (uint32_t b = 0; b < count && reader.ok(); ++b) {
    hone_buffer buffer{};
    buffer.name = description.texts_.emplace_back(reader.Text()).c_str();
    buffer.layout = description.texts_.emplace_back(reader.Text()).c_str();
    buffer.role = reader.Number<uint8_t>();
    buffer.dtype = reader.Number<uint8_t>();
    buffer.flags = reader.Number<uint32_t>();
    buffer.size_bytes = reader.Number<uint64_t>();
    buffer.rank = reader.Number<uint16_t>();
    std::vector<int64_t>& shape = description.shapes_.emplace_back();
    for (uint32_t axis = 0; axis < buffer.rank && reader.ok(); ++axis) {
      shape.push_back(reader.Number<int64_t>());
    }
    buffer.shape = shape.data();
    description.buffers_.push_back(buffer);
  }
  if (!reader.ok() || !reader.is_at_end() || !description.IsSound()) return std::nullopt;
  return description;
}

// The rules are those of a module's tables.
bool KernelDescription::IsSound() const {
  hone_kernel kernel{};
  kernel.name = kernel.workload = kernel.workload_digest = kernel.config = kernel.tier = "";
  kernel.buffer_count = static_cast<uint32_t>(buffers_.size());
  kernel.buffers = buffers_.data();
  hone_module table{};
  table.abi_version = HONE_MODULE_ABI_VERSION;
  table.target = table.toolchain = "";
  table.kernel_count = 1;
  table.kernels = &kernel;
  std::string error;
  return std::isfinite(error_bound_) && CheckTables(table, &error);
}

}  // namespace hone::measure
