// Digests what a request asks for, so that a daemon can tell that it is made again.
#ifndef HONE_CLI_REQUEST_DIGEST_H_
#define HONE_CLI_REQUEST_DIGEST_H_

#include <string>

#include "cli/tuning_request.h"

namespace hone::cli {

// SHA-256 hex of what the user asks for: the models, whatever their files are called and their
// weights are, and the flags. What is measured so far decides which kernels a job has, but not
// this.
std::string DigestOf(const TuningRequest& request, const TuningWork& work);

}  // namespace hone::cli

#endif  // HONE_CLI_REQUEST_DIGEST_H_
