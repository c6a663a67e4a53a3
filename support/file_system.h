// Reads files, and writes them so that a file has all of its new bytes or none of them.
#ifndef HONE_SUPPORT_FILE_SYSTEM_H_
#define HONE_SUPPORT_FILE_SYSTEM_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone {

// Turns the errno of a failed system call on `path` into a status: kNotFound, kPermissionDenied,
// kInvalidArgument (no file can have this path) or kInternal. If `doing` is "open", the message is
// "cannot open PATH: No such file or directory".
absl::Status ErrnoStatus(int error, std::string_view doing, const std::string& path);

absl::StatusOr<std::string> ReadFile(const std::string& path);

// Replaces the file at `path`, or the file that its symlinks lead to. Readers see either all the
// old bytes or all the new ones, even after a crash of the machine. The new bytes are on the disk
// when this returns. If several writers write the file at the same time, the last one wins.
// OutputFile describes the errors, the crash points and what a crash leaves behind.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

// Renames a file whose bytes are synced. The new name is on the disk when this returns. Passes the
// crash points file.rename.* (crash_point.h).
absl::Status RenameDurably(const std::string& from, const std::string& to);

}  // namespace hone

#endif  // HONE_SUPPORT_FILE_SYSTEM_H_
