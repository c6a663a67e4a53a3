// Cores that belong to measurements.
#ifndef HONE_SUPPORT_SPARE_CORES_H_
#define HONE_SUPPORT_SPARE_CORES_H_

namespace hone {

// A measurement with T threads takes the last T cores that its process may use. The calling thread,
// and whatever threads and processes it starts from here on, keeps off the last `count` of its
// cores. Where none would be left, nothing changes; false then, or where the system refuses.
bool LeaveLastCores(int count);

}  // namespace hone

#endif  // HONE_SUPPORT_SPARE_CORES_H_
