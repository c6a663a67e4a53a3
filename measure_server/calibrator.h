// A fixed piece of work, timed beside every measurement to show how fast the core was just then.
#ifndef HONE_MEASURE_SERVER_CALIBRATOR_H_
#define HONE_MEASURE_SERVER_CALIBRATOR_H_

namespace hone::measure {

// Runs one pass of about ten microseconds, and returns its nanoseconds. It multiplies and adds in
// registers, in several chains that keep the core's units busy. It uses no memory, so it shows only
// the clock rate, preemption, and the load that the other hardware thread puts on the core's units.
// A single chain would wait for its own results, and would not show that load.
double RunCalibrator();

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CALIBRATOR_H_
