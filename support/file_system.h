// Files that are there whole or not at all.
#ifndef HONE_SUPPORT_FILE_SYSTEM_H_
#define HONE_SUPPORT_FILE_SYSTEM_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone {

// The status of a failed system call, from errno: kNotFound, kPermissionDenied, kInvalidArgument (a
// name that none can have) or kInternal. "open" as `doing` makes "cannot open FILE: No such file or
// directory".
absl::Status ErrnoStatus(int error, std::string_view doing, const std::string& path);

absl::StatusOr<std::string> ReadFile(const std::string& path);

// Replaces `path`, or what its symlinks lead to: a reader, or a machine that crashes, sees the old
// bytes or the new ones, and the new ones are on the disk on return. Of several writers at the same
// time the last one wins. Errors, crash points and what a crash leaves: OutputFile.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

// Renames a file whose bytes are synced, and makes the new name durable. Passes the crash points
// file.rename.*.
absl::Status RenameDurably(const std::string& from, const std::string& to);

}  // namespace hone

#endif  // HONE_SUPPORT_FILE_SYSTEM_H_
