// Writes a file that a user named: first under another name in the same folder, then moved to its
// place.
#ifndef HONE_SUPPORT_OUTPUT_FILE_H_
#define HONE_SUPPORT_OUTPUT_FILE_H_

#include <sys/types.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone {

// The file that writing to `path` would replace or make, with symlinks followed. Call this before
// long work whose result could not be written. kInvalidArgument if the path is empty, or if what is
// there is not a regular file but a folder, a device or a pipe, which the move would replace;
// kNotFound if there is no such folder; kPermissionDenied if this process may not write to it.
absl::StatusOr<std::string> ResolveOutput(const std::string& path);

// The bytes go to a scratch file in the same folder, whose name is unique, so that several writers
// of one path do not disturb each other; the last one to commit wins. An object that is destroyed
// before Commit leaves nothing behind. A killed process leaves `.hone-*.new`, which the next writer
// in the folder removes once it is a minute old. Not thread-safe.
class OutputFile {
 public:
  // `mode` has the permissions of the new file, less the umask, as in open(2). Fails as
  // ResolveOutput does.
  static absl::StatusOr<OutputFile> Create(const std::string& path, mode_t mode);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  absl::Status Write(std::string_view bytes);
  // Moves the file to its place. The bytes and the name are on the disk when this returns. Passes
  // the crash points file.write.* and file.rename.* (crash_point.h).
  absl::Status Commit();

 private:
  OutputFile(std::string path, std::string target, std::string scratch, int fd);

  std::string path_;     // as the user wrote it, for messages
  std::string target_;   // what ResolveOutput made of path_
  std::string scratch_;  // the scratch file; empty after Commit
  int fd_ = -1;
};

// Writes a file that only its owner may read and write (mode 0600), for keys and tokens.
absl::Status WriteOwnFile(const std::string& path, std::string_view bytes);

}  // namespace hone

#endif  // HONE_SUPPORT_OUTPUT_FILE_H_
