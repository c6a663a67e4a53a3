// What clients submit, for the fakes to tune.
#ifndef HONE_TESTS_TUNER_FAKE_JOB_H_
#define HONE_TESTS_TUNER_FAKE_JOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hone/v1/tuning.pb.h"

namespace hone::tuner {

// A job for kFakeTarget with a task per workload; the kernel of "conv" is named "conv kernel".
hone::v1::JobSpec FakeJob(const std::vector<std::string>& workloads, int64_t trials);

}  // namespace hone::tuner

#endif  // HONE_TESTS_TUNER_FAKE_JOB_H_
