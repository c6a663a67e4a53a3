#include "tests/compiler/schedule/random_conv.h"

#include <iterator>

namespace hone::schedule {

ConvShape RandomConv(Random& random) {
  constexpr int64_t kChannels[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 19, 33};
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random.Below(static_cast<uint64_t>(limit)));
  };
  const auto any = [&] { return kChannels[below(std::ssize(kChannels))]; };
  ConvShape c = {1 + below(2), any(), 1, 1, any(), 1, 1, 0, 1, 1};
  c.taps = 1 + below(3);
  c.stride = 1 + below(2);
  c.dilation = 1 + below(2);
  c.pad = below(c.taps);
  c.h = c.Reach() + below(4);
  c.w = c.Reach() + below(6);
  if (below(4) == 0) {
    c.oc = c.groups = c.ic;
  } else if (below(3) == 0) {
    constexpr int64_t kWidths[] = {1, 2, 3, 4, 8, 12, 16, 24};
    const auto width = [&] { return kWidths[below(std::ssize(kWidths))]; };
    c.groups = 2 + below(4);
    c.ic = c.groups * width();
    c.oc = c.groups * width();
  }
  return c;
}

}  // namespace hone::schedule
