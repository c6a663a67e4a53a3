#include "compiler/frontend/file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "support/file_system.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr uintmax_t kMaxBytes = (uintmax_t{1} << 31) - 1;

}  // namespace

absl::StatusOr<size_t> SizeOfFile(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return absl::NotFoundError(fmt::format("{} does not exist", path));
  }
  if (!std::filesystem::is_regular_file(status)) {
    return absl::InvalidArgumentError(
        fmt::format("expected a file at {}, found {}; check the path", path,
                    std::filesystem::is_directory(status) ? "a folder" : "no regular file"));
  }
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > kMaxBytes) {
    return absl::InvalidArgumentError(
        fmt::format("{} was expected to be at most 2 GiB, found {} bytes", path, size));
  }
  return size;
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const size_t size, SizeOfFile(path));
  std::string bytes(size, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) {
    return absl::InvalidArgumentError(fmt::format("{} cannot be read", path));
  }
  return bytes;
}

absl::Status WriteWholeFile(const std::string& path, std::string_view bytes) {
  return WriteFileAtomically(path, bytes);
}

}  // namespace hone::frontend
