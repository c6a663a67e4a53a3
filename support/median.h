// The middle of some figures.
#ifndef HONE_SUPPORT_MEDIAN_H_
#define HONE_SUPPORT_MEDIAN_H_

#include <vector>

namespace hone {

// The mean of the middle two where their number is even; 0 of none. No value may be NaN.
double Median(std::vector<double> values);

}  // namespace hone

#endif  // HONE_SUPPORT_MEDIAN_H_
