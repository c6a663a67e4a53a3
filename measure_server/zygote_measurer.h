// Measures on a device in processes that a zygote forks.
#ifndef HONE_MEASURE_SERVER_ZYGOTE_MEASURER_H_
#define HONE_MEASURE_SERVER_ZYGOTE_MEASURER_H_

#include <atomic>

#include "measure_server/measurer.h"
#include "measure_server/zygote.h"

namespace hone::measure {

// Checks candidates if the job has the outputs of a reference. The runner must outlive this.
class ZygoteMeasurer : public Measurer {
 public:
  explicit ZygoteMeasurer(CandidateRunner* runner) : runner_(runner) {}

  hone::v1::MeasureResult Measure(const Job& job) override;
  void Cancel(int64_t fence) override { runner_->Cancel(fence); }
  // Does nothing for a final, whose candidates live together and take turns.
  void LoadAhead(const Job& job) override;
  void Forget(int64_t fence) override { runner_->Forget(fence); }
  bool is_lost() const override { return is_lost_; }

 private:
  absl::StatusOr<hone::v1::MeasureResult> Run(const Job& job);

  CandidateRunner* const runner_;
  std::atomic<bool> is_lost_{false};
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ZYGOTE_MEASURER_H_
