// Reads from a client's request to clone a job how the clone is to differ from the original.
#ifndef HONE_TUNER_JOB_CHANGES_H_
#define HONE_TUNER_JOB_CHANGES_H_

#include "hone/v1/tuning.pb.h"
#include "tuning_db/clone_job.h"

namespace hone::tuner {

tuning_db::JobChanges ChangesOf(const hone::v1::CloneJobRequest& request);

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOB_CHANGES_H_
