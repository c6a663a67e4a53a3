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

std::string_view Zeros(uint64_t count) {
  static const std::string* const kZeros = new std::string(64 << 10, '\0');
  return std::string_view(*kZeros).substr(0, count);
}

}  // namespace

absl::StatusOr<ModuleWriter> ModuleWriter::Create(const std::string& path, std::string_view elf) {
  HONE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path, 0777));
  HONE_RETURN_IF_ERROR(file.Write(elf));
  const uint64_t start = (elf.size() + kPageBytes - 1) / kPageBytes * kPageBytes;
  HONE_RETURN_IF_ERROR(file.Write(Zeros(start - elf.size())));
  return ModuleWriter(std::move(file), start);
}

absl::Status ModuleWriter::AppendZeros(uint64_t count) {
  while (count > 0) {
    const std::string_view zeros = Zeros(count);
    HONE_RETURN_IF_ERROR(file_.Write(zeros));
    digest_.Add(zeros);
    size_ += zeros.size();
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
  HONE_RETURN_IF_ERROR(file_.Write(bytes));
  digest_.Add(bytes);
  size_ += bytes.size();
  return absl::OkStatus();
}

absl::Status ModuleWriter::Finish(uint64_t parameters_bytes) {
  if (size_ > parameters_bytes) {
    return absl::InternalError(fmt::format("{} bytes of parameters, but the module's table says {}",
                                           size_, parameters_bytes));
  }
  HONE_RETURN_IF_ERROR(AppendZeros(parameters_bytes - size_));
  if (parameters_bytes > 0) {
    hone_trailer trailer;
    trailer.parameters_offset = start_;
    trailer.parameters_bytes = parameters_bytes;
    const std::array<uint8_t, 32> digest = digest_.Finish();
    std::copy(digest.begin(), digest.end(), trailer.sha256);
    std::memcpy(trailer.magic, HONE_TRAILER_MAGIC, sizeof(trailer.magic));
    HONE_RETURN_IF_ERROR(
        file_.Write(std::string_view(reinterpret_cast<const char*>(&trailer), sizeof(trailer))));
  }
  return file_.Commit();
}

}  // namespace hone::codegen
