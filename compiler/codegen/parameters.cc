#include "compiler/codegen/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/module_abi.h"
#include "support/status.h"

namespace hone::codegen {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kHugePageBytes = 2 << 20;
// So many parameters that the padding in front is a small part of them.
constexpr uint64_t kManyParametersBytes = 4 * kHugePageBytes;

// So many, or as many as there are at a time.
std::string_view Zeros(uint64_t count) {
  static const std::string* const kZeros = new std::string(64 << 10, '\0');
  return std::string_view(*kZeros).substr(0, count);
}

}  // namespace

absl::StatusOr<ModuleWriter> ModuleWriter::Create(const std::string& path, std::string_view elf,
                                                  uint64_t parameters_bytes) {
  HONE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path, 0777));
  HONE_RETURN_IF_ERROR(file.Write(elf));
  const uint64_t page = parameters_bytes >= kManyParametersBytes ? kHugePageBytes : kPageBytes;
  const uint64_t start = (elf.size() + page - 1) / page * page;
  HONE_RETURN_IF_ERROR(file.Write(std::string(start - elf.size(), '\0')));
  return ModuleWriter(std::move(file), start, parameters_bytes);
}

absl::Status ModuleWriter::Add(std::string_view bytes) {
  digest_.Add(bytes);
  size_ += bytes.size();
  while (pending_.size() + bytes.size() >= kHugePageBytes) {
    const size_t count = kHugePageBytes - pending_.size();
    pending_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
    HONE_RETURN_IF_ERROR(file_.Write(pending_));
    pending_.clear();
  }
  pending_.append(bytes);
  return absl::OkStatus();
}

absl::Status ModuleWriter::AppendZeros(uint64_t count) {
  while (count > 0) {
    const std::string_view zeros = Zeros(count);
    HONE_RETURN_IF_ERROR(Add(zeros));
    count -= zeros.size();
  }
  return absl::OkStatus();
}

absl::Status ModuleWriter::Append(uint64_t offset_bytes, std::string_view bytes) {
  if (offset_bytes < size_) {
    return absl::InternalError(
        fmt::format("parameters at offset {} would overwrite those up to {}", offset_bytes, size_));
  }
  HONE_RETURN_IF_ERROR(AppendZeros(offset_bytes - size_));
  return Add(bytes);
}

absl::Status ModuleWriter::Finish() {
  if (size_ > parameters_bytes_) {
    return absl::InternalError(fmt::format("{} bytes of parameters, but the module's table says {}",
                                           size_, parameters_bytes_));
  }
  HONE_RETURN_IF_ERROR(AppendZeros(parameters_bytes_ - size_));
  if (parameters_bytes_ > 0) {
    hone_trailer trailer;
    trailer.parameters_offset = start_;
    trailer.parameters_bytes = parameters_bytes_;
    const std::array<uint8_t, 32> digest = digest_.Finish();
    std::copy(digest.begin(), digest.end(), trailer.sha256);
    std::memcpy(trailer.magic, HONE_TRAILER_MAGIC, sizeof(trailer.magic));
    pending_.append(reinterpret_cast<const char*>(&trailer), sizeof(trailer));
  }
  HONE_RETURN_IF_ERROR(file_.Write(pending_));
  return file_.Commit();
}

}  // namespace hone::codegen
