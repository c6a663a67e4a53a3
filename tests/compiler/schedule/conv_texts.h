// Texts of convolutions for tests.
#ifndef HONE_TESTS_COMPILER_SCHEDULE_CONV_TEXTS_H_
#define HONE_TESTS_COMPILER_SCHEDULE_CONV_TEXTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "support/random.h"

namespace hone::schedule {

inline constexpr char kWideTarget[] =
    "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=49152,2097152,33554432 -threads=1";

struct Conv2dShape {
  int64_t n, ic, h, w, oc, kh, kw, stride, pad, dilation;
};
// `epilogue`: "none", "bias_relu" or "residual", which adds p3 of the result's shape too.
std::string ConvText(const Conv2dShape& s, const std::string& epilogue);

// One to three spatial axes, of any window.
struct Windows {
  int64_t n, ic, oc;
  std::vector<int64_t> data, taps, strides, dilation, before, after;
};
// As an attribute's value.
std::string List(const std::vector<int64_t>& values);
// `w.ic` channels a group.
std::string WindowsText(const Windows& w, const char* data_type, const char* weight_type,
                        int64_t groups = 1);
// A transposed one of `groups` groups with so many channels each, bias and tanh; `extra` is its
// output_padding.
std::string TransposedText(const Windows& w, const std::vector<int64_t>& extra, int64_t groups = 1);
Windows RandomWindows(Random& random);
// Makes the windows those of a transposed convolution, and returns what is added to its result's
// extents: strides that divide them and that do not, taps that fill the phases and that do not.
std::vector<int64_t> Transpose(Random& random, Windows* w);

}  // namespace hone::schedule

#endif  // HONE_TESTS_COMPILER_SCHEDULE_CONV_TEXTS_H_
