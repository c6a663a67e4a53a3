// Reads and writes whole files, with errors that tell a user what is wrong with a path.
#ifndef HONE_COMPILER_FRONTEND_FILE_H_
#define HONE_COMPILER_FRONTEND_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hone::frontend {

// The size in bytes. kNotFound names a path that is missing; kInvalidArgument one that is no
// regular file or is larger than 2 GiB.
absl::StatusOr<size_t> SizeOfFile(const std::string& path);
// Errors as for SizeOfFile; kInvalidArgument also if the file cannot be read.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);
// Writes the whole file or, on an error, nothing: WriteFileAtomically of support/file_system.h.
absl::Status WriteWholeFile(const std::string& path, std::string_view bytes);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_FILE_H_
