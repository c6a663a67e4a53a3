// Ends a measurement whose lease has run out, even if the daemon does not say so.
#ifndef HONE_MEASURE_SERVER_DEADLINE_MEASURER_H_
#define HONE_MEASURE_SERVER_DEADLINE_MEASURER_H_

#include <condition_variable>
#include <mutex>
#include <thread>

#include "measure_server/measurer.h"

namespace hone::measure {

// Cancels a measurement when the time of its lease is over. The result is then "device lost", since
// the limits of the candidates should have ended it long before.
class DeadlineMeasurer : public MeasurerDecorator {
 public:
  explicit DeadlineMeasurer(std::unique_ptr<Measurer> inner);
  ~DeadlineMeasurer() override;

  hone::v1::MeasureResult Measure(const Job& job) override;

 private:
  // Runs on a thread of its own, and cancels what is overdue.
  void Watch();
  void Arm(int64_t fence, int64_t end_ns);
  // Returns whether the measurement had to be cancelled.
  bool Disarm();

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  int64_t fence_ = 0;
  int64_t end_ns_ = 0;  // 0: nothing is watched
  bool is_overdue_ = false;
  bool stopping_ = false;
  std::thread watching_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_DEADLINE_MEASURER_H_
