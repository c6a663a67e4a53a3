// Computes a digest of what a request asks for, by which a daemon sees that it is made again.
#ifndef HONE_CLI_REQUEST_DIGEST_H_
#define HONE_CLI_REQUEST_DIGEST_H_

#include <string>

#include "cli/tuning_request.h"

namespace hone::cli {

// The SHA-256, in hex, of what the user asks for: the models, except for the names of their files
// and their weights, and the flags. What has been measured so far decides which kernels a job has,
// but does not change this digest.
std::string DigestOf(const TuningRequest& request, const TuningWork& work);

}  // namespace hone::cli

#endif  // HONE_CLI_REQUEST_DIGEST_H_
