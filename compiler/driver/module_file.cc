#include "compiler/driver/module_file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "runtime/module_abi.h"
#include "support/crash_point.h"
#include "support/file_system.h"
#include "support/status.h"

namespace hone::driver {
namespace {

constexpr uint64_t kPage = 4096;

// A file under construction: removed again unless it was closed well.
class NewFile {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)) {
    fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    error_ = fd_ < 0 ? errno : 0;
  }
  ~NewFile() {
    if (fd_ >= 0) {
      close(fd_);
      unlink(path_.c_str());
    }
  }
  void Write(std::string_view bytes) {
    while (error_ == 0 && !bytes.empty()) {
      const ssize_t count = write(fd_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        error_ = errno;
        return;
      }
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }
  void WriteZeros(uint64_t count) { Write(std::string(count, '\0')); }
  absl::Status Close() {
    if (error_ == 0 && fsync(fd_) != 0) error_ = errno;
    if (error_ != 0) return ErrnoStatus(error_, "write", path_);
    close(fd_);
    fd_ = -1;
    return absl::OkStatus();
  }

 private:
  std::string path_;
  int fd_ = -1;
  int error_ = 0;
};

struct DigestFree {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

void WriteParameters(NewFile& file, uint64_t offset, const ParameterSection& parameters) {
  const std::unique_ptr<EVP_MD_CTX, DigestFree> digest(EVP_MD_CTX_new());
  EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr);
  const auto append = [&](std::string_view bytes) {
    EVP_DigestUpdate(digest.get(), bytes.data(), bytes.size());
    file.Write(bytes);
  };
  uint64_t written = 0;
  for (const ParameterSection::Entry& entry : parameters.entries()) {
    append(std::string(entry.offset_bytes - written, '\0'));
    append({reinterpret_cast<const char*>(entry.blob.bytes), entry.blob.size_bytes});
    written = entry.offset_bytes + entry.blob.size_bytes;
  }
  append(std::string(parameters.size_bytes() - written, '\0'));

  hone_trailer trailer{};
  trailer.parameters_offset = offset;
  trailer.parameters_bytes = parameters.size_bytes();
  EVP_DigestFinal_ex(digest.get(), trailer.sha256, nullptr);
  std::memcpy(trailer.magic, HONE_TRAILER_MAGIC, sizeof(trailer.magic));
  file.Write({reinterpret_cast<const char*>(&trailer), sizeof(trailer)});
}

}  // namespace

absl::Status WriteModuleFile(const std::string& path, const std::string& shared_object,
                             const ParameterSection& parameters) {
  const std::string unfinished = path + ".new";
  NewFile file(unfinished);
  file.Write(shared_object);
  if (parameters.size_bytes() > 0) {
    const uint64_t offset = (shared_object.size() + kPage - 1) / kPage * kPage;
    file.WriteZeros(offset - shared_object.size());
    WriteParameters(file, offset, parameters);
  }
  HONE_RETURN_IF_ERROR(file.Close());
  CrashPoint("module.write.before_rename");
  return RenameDurably(unfinished, path);
}

}  // namespace hone::driver
