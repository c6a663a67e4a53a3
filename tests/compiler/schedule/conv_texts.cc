#include "tests/compiler/schedule/conv_texts.h"

#include <algorithm>
#include <iterator>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace hone::schedule {

std::string ConvText(const Conv2dShape& s, const std::string& epilogue) {
  const int64_t oh = (s.h + 2 * s.pad - s.dilation * (s.kh - 1) - 1) / s.stride + 1;
  const int64_t ow = (s.w + 2 * s.pad - s.dilation * (s.kw - 1) - 1) / s.stride + 1;
  const std::string data =
      fmt::format("p0: Tensor[({}, {}, {}, {}), float32]", s.n, s.ic, s.h, s.w);
  const std::string weight =
      fmt::format("const p1: Tensor[({}, {}, {}, {}), float32]", s.oc, s.ic, s.kh, s.kw);
  const std::string conv = fmt::format(
      "nn.conv2d(p0, p1, dilation=[{0}, {0}], padding=[{1}, {1}, {1}, {1}], strides=[{2}, {2}])",
      s.dilation, s.pad, s.stride);
  const std::string end = " accumulate=float32 numerics=default";
  if (epilogue == "none") {
    return fmt::format("fn ({}, {}) {{ {} }}", data, weight, conv) + end;
  }
  const std::string bias = fmt::format("const p2: Tensor[({}), float32]", fmt::format("{},", s.oc));
  if (epilogue == "bias_relu") {
    return fmt::format("fn ({}, {}, {}) {{ %0 = {}; %1 = nn.bias_add(%0, p2); nn.relu(%1) }}", data,
                       weight, bias, conv) +
           end;
  }
  return fmt::format(
             "fn ({}, {}, {}, p3: Tensor[({}, {}, {}, {}), float32]) {{ %0 = {}; %1 = "
             "nn.bias_add(%0, p2); %2 = add(%1, p3); nn.relu(%2) }}",
             data, weight, bias, s.n, s.oc, oh, ow, conv) +
         end;
}

std::string List(const std::vector<int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string WindowsText(const Windows& w, const char* data_type, const char* weight_type,
                        int64_t groups) {
  std::vector<int64_t> padding = w.before;
  padding.insert(padding.end(), w.after.begin(), w.after.end());
  return fmt::format(
      "fn (p0: Tensor[({}, {}, {}), {}], const p1: Tensor[({}, {}, {}), {}]) {{ %0 = "
      "nn.conv{}d(p0, p1, dilation={}, groups={}, padding={}, strides={}); nn.relu(%0) }} "
      "accumulate=float32 numerics=default",
      w.n, w.ic * groups, fmt::join(w.data, ", "), data_type, w.oc, w.ic, fmt::join(w.taps, ", "),
      weight_type, w.taps.size(), List(w.dilation), groups, List(padding), List(w.strides));
}

std::string TransposedText(const Windows& w, const std::vector<int64_t>& extra, int64_t groups) {
  std::vector<int64_t> padding = w.before;
  padding.insert(padding.end(), w.after.begin(), w.after.end());
  return fmt::format(
      "fn (p0: Tensor[({}, {}, {}), float32], const p1: Tensor[({}, {}, {}), float32], const p2: "
      "Tensor[({},), float32]) {{ %0 = nn.conv{}d_transpose(p0, p1, dilation={}, groups={}, "
      "output_padding={}, padding={}, strides={}); %1 = nn.bias_add(%0, p2); tanh(%1) }} "
      "accumulate=float32 numerics=default",
      w.n, w.ic * groups, fmt::join(w.data, ", "), w.ic * groups, w.oc, fmt::join(w.taps, ", "),
      w.oc * groups, w.taps.size(), List(w.dilation), groups, List(extra), List(padding),
      List(w.strides));
}

Windows RandomWindows(Random& random) {
  const int64_t channels[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 23, 33};
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random.Below(n)); };
  Windows w{1 + below(2),
            channels[below(std::size(channels))],
            channels[below(12)],
            {},
            {},
            {},
            {},
            {},
            {}};
  const int64_t spatial = 1 + below(3);
  for (int64_t i = 0; i < spatial; ++i) {
    w.taps.push_back(1 + below(spatial == 3 ? 3 : 4));
    w.strides.push_back(1 + below(2));
    w.dilation.push_back(1 + below(2));
    w.before.push_back(below(static_cast<uint64_t>(w.taps[i]) + 1));
    w.after.push_back(below(static_cast<uint64_t>(w.taps[i])));
    const int64_t reach = w.dilation[i] * (w.taps[i] - 1) + 1;
    w.data.push_back(std::max<int64_t>(1, reach - w.before[i]) + below(spatial == 3 ? 4 : 9));
  }
  return w;
}

std::vector<int64_t> Transpose(Random& random, Windows* w) {
  std::vector<int64_t> extra;
  for (size_t i = 0; i < w->taps.size(); ++i) {
    w->strides[i] = 1 + static_cast<int64_t>(random.Below(static_cast<uint64_t>(w->taps[i]) + 1));
    if (w->strides[i] > 1) w->dilation[i] = 1;
    extra.push_back(static_cast<int64_t>(random.Below(3)));
    w->before[i] = std::min(w->before[i], w->taps[i] - 1);
    const int64_t extent = (w->data[i] - 1) * w->strides[i] + w->dilation[i] * (w->taps[i] - 1) +
                           1 + extra[i] - w->before[i] - w->after[i];
    if (extent < 1) w->before[i] = w->after[i] = 0;
  }
  return extra;
}

}  // namespace hone::schedule
