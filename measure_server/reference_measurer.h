// Computes the reference outputs before candidates are measured.
#ifndef HONE_MEASURE_SERVER_REFERENCE_MEASURER_H_
#define HONE_MEASURE_SERVER_REFERENCE_MEASURER_H_

#include <atomic>
#include <utility>

#include "measure_server/measurer.h"
#include "measure_server/reference_cache.h"

namespace hone::measure {

// Runs the workload's reference on this host if its outputs are not cached yet, whatever device the
// candidates run on. The runner must outlive this.
class ReferenceMeasurer : public MeasurerDecorator {
 public:
  ReferenceMeasurer(CandidateRunner* runner, uint64_t cache_bytes, std::unique_ptr<Measurer> inner)
      : MeasurerDecorator(std::move(inner)), runner_(runner), references_(runner, cache_bytes) {}

  hone::v1::MeasureResult Measure(const Job& job) override;
  void Cancel(int64_t fence) override;
  bool is_lost() const override { return is_lost_ || MeasurerDecorator::is_lost(); }

 private:
  CandidateRunner* const runner_;
  ReferenceCache references_;
  std::atomic<bool> is_lost_{false};
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_REFERENCE_MEASURER_H_
