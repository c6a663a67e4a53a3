// A file that a user named, written beside its place and then moved there.
#ifndef HONE_SUPPORT_OUTPUT_FILE_H_
#define HONE_SUPPORT_OUTPUT_FILE_H_

#include <sys/types.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone {

// The file that writing to `path` replaces or makes: where its symlinks end. Ask before work that a
// path one cannot write to would waste. kInvalidArgument for an empty path and for what is there
// and no regular file (a folder, a device, a pipe): renaming would replace it; kNotFound without
// the folder, kPermissionDenied where it is closed.
absl::StatusOr<std::string> ResolveOutput(const std::string& path);

// Bytes go to a file of its own name in the same folder, so that any number of writers of one path
// do not meet: the last to commit wins. Abandoned, it leaves nothing; killed, `.hone-*.new`, which
// the next writer in the folder removes once it is a minute old. Not thread-safe.
class OutputFile {
 public:
  // `mode` as of open(2): less the umask.
  static absl::StatusOr<OutputFile> Create(const std::string& path, mode_t mode);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  absl::Status Write(std::string_view bytes);
  // The bytes are on the disk under their name on return. Passes the crash points file.write.* and
  // file.rename.*.
  absl::Status Commit();

 private:
  OutputFile(std::string path, std::string target, std::string scratch, int fd);

  std::string path_;     // as the user wrote it, for messages
  std::string target_;   // where its symlinks end
  std::string scratch_;  // gone after a commit
  int fd_ = -1;
};

// A file of mode 0600, for keys and tokens.
absl::Status WriteOwnFile(const std::string& path, std::string_view bytes);

}  // namespace hone

#endif  // HONE_SUPPORT_OUTPUT_FILE_H_
