// Builds the artifact of one request.
#ifndef HONE_TUNER_BUILDER_BUILD_REQUEST_H_
#define HONE_TUNER_BUILDER_BUILD_REQUEST_H_

#include "compiler/codegen/launch_cache.h"
#include "hone/v1/builder.pb.h"

namespace hone::tuner {

// The message that says what BuildOne can build.
hone::v1::BuilderHello HelloOfBuilder();

// Lowers and compiles in this process. Every failure is an outcome in the reply, with its reason in
// `message`. `cache` keeps compiled launches from one request to the next.
hone::v1::BuildReply BuildOne(const hone::v1::BuildRequest& request, codegen::LaunchCache& cache);

}  // namespace hone::tuner

#endif  // HONE_TUNER_BUILDER_BUILD_REQUEST_H_
