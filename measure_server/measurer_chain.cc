#include "measure_server/measurer_chain.h"

#include <cstdint>
#include <utility>

#include "measure_server/anchored_measurer.h"
#include "measure_server/deadline_measurer.h"
#include "measure_server/reference_measurer.h"
#include "measure_server/requirements_measurer.h"
#include "measure_server/zygote_measurer.h"

namespace hone::measure {
namespace {

constexpr uint64_t kReferenceCacheBytes = uint64_t{256} << 20;

}  // namespace

// What is refused costs nothing; the time of a lease counts all the rest; and the time that an
// anchor takes is without that of a reference.
std::unique_ptr<Measurer> MakeMeasurer(const hone::v1::Device& device, CandidateRunner* runner,
                                       CandidateRunner* host, const Clock* clock) {
  std::unique_ptr<Measurer> measurer = std::make_unique<ZygoteMeasurer>(runner);
  measurer = std::make_unique<AnchoredMeasurer>(clock, std::move(measurer));
  measurer = std::make_unique<ReferenceMeasurer>(host, kReferenceCacheBytes, std::move(measurer));
  measurer = std::make_unique<DeadlineMeasurer>(std::move(measurer));
  return std::make_unique<RequirementsMeasurer>(device, std::move(measurer));
}

}  // namespace hone::measure
