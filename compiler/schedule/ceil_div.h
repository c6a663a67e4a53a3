#ifndef HONE_COMPILER_SCHEDULE_CEIL_DIV_H_
#define HONE_COMPILER_SCHEDULE_CEIL_DIV_H_

#include <cstdint>

namespace hone::schedule {

// The quotient, rounded up. a >= 0, b > 0.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CEIL_DIV_H_
