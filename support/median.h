// The median of some numbers.
#ifndef HONE_SUPPORT_MEDIAN_H_
#define HONE_SUPPORT_MEDIAN_H_

#include <vector>

namespace hone {

// If the number of values is even, the mean of the two in the middle; 0 if there are none. No value
// may be NaN.
double Median(std::vector<double> values);

}  // namespace hone

#endif  // HONE_SUPPORT_MEDIAN_H_
