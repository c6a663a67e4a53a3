// A fixed piece of work, timed beside every measurement: how fast the core was just then.
#ifndef HONE_MEASURE_SERVER_CALIBRATOR_H_
#define HONE_MEASURE_SERVER_CALIBRATOR_H_

namespace hone::measure {

// Nanoseconds of one pass: multiplications and additions in registers that wait for each other,
// about ten microseconds. Needs no memory, so only the clock rate and preemption show.
double RunCalibrator();

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CALIBRATOR_H_
