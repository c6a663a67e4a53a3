// Ends a measurement whose lease has run out, whether or not the daemon says so.
#ifndef HONE_MEASURE_SERVER_DEADLINE_MEASURER_H_
#define HONE_MEASURE_SERVER_DEADLINE_MEASURER_H_

#include <condition_variable>
#include <mutex>
#include <thread>

#include "measure_server/measurer.h"

namespace hone::measure {

// Cancels a measurement when the time of its lease is over; its result says that the device is
// lost, for the limits of its candidates were to end it long before.
class DeadlineMeasurer : public MeasurerDecorator {
 public:
  explicit DeadlineMeasurer(std::unique_ptr<Measurer> inner);
  ~DeadlineMeasurer() override;

  hone::v1::MeasureResult Measure(const Job& job) override;

 private:
  // Cancels what is overdue, on a thread of its own.
  void Watch();
  void Arm(int64_t fence, int64_t end_ns);
  // Whether it had to be cancelled.
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
