// Staged faults: how tests make a build crash or hang in a real process.
#ifndef HONE_TUNER_BUILDER_TEST_FAULT_H_
#define HONE_TUNER_BUILDER_TEST_FAULT_H_

#include "hone/v1/builder.pb.h"

namespace hone::tuner {

// The environment variable HONE_BUILDER_FAULT is "crash:ID" or "hang:ID": the build of the request
// with that id then crashes or hangs. Does nothing without it.
void InjectFault(const hone::v1::BuildRequest& request);

}  // namespace hone::tuner

#endif  // HONE_TUNER_BUILDER_TEST_FAULT_H_
