// Tells whether two requests with the same client id ask for the same.
#ifndef HONE_TUNER_REQUEST_DIGEST_H_
#define HONE_TUNER_REQUEST_DIGEST_H_

#include <string>

#include "hone/v1/tuning.pb.h"

namespace hone::tuner {

// The digest that the client gave with its request; without one, the SHA-256, in hex, of the
// request without its client id.
std::string DigestOf(const hone::v1::SubmitJobRequest& request);
std::string DigestOf(const hone::v1::CloneJobRequest& request);

}  // namespace hone::tuner

#endif  // HONE_TUNER_REQUEST_DIGEST_H_
