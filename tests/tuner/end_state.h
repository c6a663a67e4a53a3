// What a run of jobs came to.
#ifndef HONE_TESTS_TUNER_END_STATE_H_
#define HONE_TESTS_TUNER_END_STATE_H_

#include <string>

#include "tuning_db/store.h"

namespace hone::tuner {

// Per task: each search config with its outcome, median, artifact and toolchain, in the order of
// proposal; the newest final's entries, winner and toolchain; how many finals there were. Two runs
// that came to the same end have the same text.
std::string EndStateOf(tuning_db::Store& store);

}  // namespace hone::tuner

#endif  // HONE_TESTS_TUNER_END_STATE_H_
