// Shapes of two-dimensional convolutions, drawn from a seed.
#ifndef HONE_TESTS_COMPILER_SCHEDULE_RANDOM_CONV_H_
#define HONE_TESTS_COMPILER_SCHEDULE_RANDOM_CONV_H_

#include <cstdint>
#include <string>

#include "support/random.h"

namespace hone::schedule {

struct ConvShape {
  int64_t n, ic, h, w, oc, taps, stride, pad, dilation, groups;

  // The extent of the data that one result is made of.
  int64_t Reach() const { return dilation * (taps - 1) + 1; }
  // The template that is to match: a group for each of several channels is depthwise.
  std::string ExpectedTemplate() const {
    return groups == ic && oc == ic && ic > 1 ? "depthwise_conv2d" : "conv";
  }
};

// One, primes, and a channel more or less than a dot product's or a vector's; a quarter depthwise,
// another in groups.
ConvShape RandomConv(Random& random);

}  // namespace hone::schedule

#endif  // HONE_TESTS_COMPILER_SCHEDULE_RANDOM_CONV_H_
