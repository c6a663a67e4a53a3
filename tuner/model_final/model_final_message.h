// Finals of models as messages between client and daemon.
#ifndef HONE_TUNER_MODEL_FINAL_MODEL_FINAL_MESSAGE_H_
#define HONE_TUNER_MODEL_FINAL_MODEL_FINAL_MESSAGE_H_

#include "hone/v1/tuning.pb.h"
#include "tuning_db/model_final.h"

namespace hone::tuner {

// The message lacks id and time, which are the store's.
hone::v1::ModelFinal ToProto(const tuning_db::ModelFinal& final);
// Configs become canonical.
tuning_db::ModelFinal FromProto(const hone::v1::ModelFinal& message);

}  // namespace hone::tuner

#endif  // HONE_TUNER_MODEL_FINAL_MODEL_FINAL_MESSAGE_H_
