// Times the anchor, which is the task's default config, from time to time beside trials of a
// search.
#ifndef HONE_MEASURE_SERVER_ANCHORED_MEASURER_H_
#define HONE_MEASURE_SERVER_ANCHORED_MEASURER_H_

#include <utility>

#include "measure_server/anchor_times.h"
#include "measure_server/measurer.h"
#include "support/clock.h"

namespace hone::measure {

// When the job's anchor is due, measures it as one more candidate. Its newest time goes into every
// result. The clock must outlive the measurer.
class AnchoredMeasurer : public MeasurerDecorator {
 public:
  AnchoredMeasurer(const Clock* clock, std::unique_ptr<Measurer> inner)
      : MeasurerDecorator(std::move(inner)), clock_(clock) {}

  hone::v1::MeasureResult Measure(const Job& job) override;

 private:
  // Measures the job and its anchor. The result has the job's candidates only.
  hone::v1::MeasureResult MeasureBoth(const Job& job, const std::string& anchor_key);

  const Clock* const clock_;
  AnchorTimes anchors_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ANCHORED_MEASURER_H_
