// A fixed piece of work, timed beside every measurement: how fast the core was just then.
#ifndef HONE_MEASURE_SERVER_CALIBRATOR_H_
#define HONE_MEASURE_SERVER_CALIBRATOR_H_

namespace hone::measure {

// Nanoseconds of one pass, about ten microseconds: multiplications and additions in registers, in
// chains that keep the core's units busy. It needs no memory, so that the clock rate, preemption
// and whoever shares the core's units (the other hardware thread) show, and nothing else. One chain
// alone would wait for its own results, and not see who else uses the units.
double RunCalibrator();

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CALIBRATOR_H_
