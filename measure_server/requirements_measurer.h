// Checks that the device meets what an assignment requires.
#ifndef HONE_MEASURE_SERVER_REQUIREMENTS_MEASURER_H_
#define HONE_MEASURE_SERVER_REQUIREMENTS_MEASURER_H_

#include <utility>

#include "measure_server/measurer.h"

namespace hone::measure {

// Refuses assignments that the device may not measure, with the result "device lost", since no
// candidate is at fault.
class RequirementsMeasurer : public MeasurerDecorator {
 public:
  RequirementsMeasurer(hone::v1::Device device, std::unique_ptr<Measurer> inner)
      : MeasurerDecorator(std::move(inner)), device_(std::move(device)) {}

  hone::v1::MeasureResult Measure(const Job& job) override;
  void LoadAhead(const Job& job) override;

 private:
  // OK, or kFailedPrecondition with a message that says which requirement the device does not meet.
  absl::Status Meets(const hone::v1::Assignment& assignment) const;

  const hone::v1::Device device_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_REQUIREMENTS_MEASURER_H_
