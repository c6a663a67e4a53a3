// Keeps a program off the cores that measurements use.
#ifndef HONE_SUPPORT_SPARE_CORES_H_
#define HONE_SUPPORT_SPARE_CORES_H_

namespace hone {

// Takes the last `count` of the cores that it may use away from the calling thread, and from all
// threads and processes that it starts later. This is because a measurement with T threads takes
// the last T cores that its process may use. False if no core would be left or if the system
// refuses; then nothing changes.
bool LeaveLastCores(int count);

}  // namespace hone

#endif  // HONE_SUPPORT_SPARE_CORES_H_
