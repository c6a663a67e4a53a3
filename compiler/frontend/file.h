// Whole files in and out, with the errors of a user's paths.
#ifndef HONE_COMPILER_FRONTEND_FILE_H_
#define HONE_COMPILER_FRONTEND_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hone::frontend {

// kNotFound names a path that is missing; kInvalidArgument one that is no regular file or is larger
// than 2 GiB.
absl::StatusOr<size_t> SizeOfFile(const std::string& path);
// Errors likewise; kInvalidArgument also where it cannot be read.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);
// Whole or, on an error, not at all: support's WriteFileAtomically.
absl::Status WriteWholeFile(const std::string& path, std::string_view bytes);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_FILE_H_
