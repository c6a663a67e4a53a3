// Shorthands for functions that return absl::Status or absl::StatusOr.
//
// The codes mean, across Hone: kInvalidArgument - bad input of the user (exit 3); kNotFound - a
// missing file or name (exit 3); kUnimplemented - an operator or feature Hone does not have (exit
// 3); kFailedPrecondition - a wrong state or version (exit 7); kUnavailable - server unreachable
// (exit 5); kPermissionDenied (exit 6); kInternal - a bug or a failing system call (exit 1). A
// message says what was expected, what was found and what to do, in one sentence.
#ifndef HONE_SUPPORT_STATUS_H_
#define HONE_SUPPORT_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define HONE_RETURN_IF_ERROR(expr)                                                   \
  do {                                                                               \
    if (absl::Status hone_status_ = (expr); !hone_status_.ok()) return hone_status_; \
  } while (false)

#define HONE_CONCAT_INNER_(a, b) a##b
#define HONE_CONCAT_(a, b) HONE_CONCAT_INNER_(a, b)

// HONE_ASSIGN_OR_RETURN(auto value, Function());
#define HONE_ASSIGN_OR_RETURN(lhs, expr) \
  HONE_ASSIGN_OR_RETURN_IMPL_(HONE_CONCAT_(hone_status_or_, __LINE__), lhs, expr)
#define HONE_ASSIGN_OR_RETURN_IMPL_(temporary, lhs, expr)    \
  auto temporary = (expr);                                   \
  if (!temporary.ok()) return std::move(temporary).status(); \
  lhs = *std::move(temporary)

#endif  // HONE_SUPPORT_STATUS_H_
