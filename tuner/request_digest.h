// Tells whether two requests under one client id ask for the same.
#ifndef HONE_TUNER_REQUEST_DIGEST_H_
#define HONE_TUNER_REQUEST_DIGEST_H_

#include <string>

#include "hone/v1/tuning.pb.h"

namespace hone::tuner {

// SHA-256 hex of what is asked for, the client id aside: what the client says of it, else the spec.
std::string DigestOf(const hone::v1::SubmitJobRequest& request);
std::string DigestOf(const hone::v1::CloneJobRequest& request);

}  // namespace hone::tuner

#endif  // HONE_TUNER_REQUEST_DIGEST_H_
