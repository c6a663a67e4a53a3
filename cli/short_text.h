// Names kernels, targets and devices in a few words, for tables.
#ifndef HONE_CLI_SHORT_TEXT_H_
#define HONE_CLI_SHORT_TEXT_H_

#include <string>
#include <string_view>

namespace hone::cli {

// The kernel's operators and the shape of its first operand: "nn.conv2d+nn.relu 1x64x56x56".
std::string ShortKernel(std::string_view workload);
// The target's processor, and a CPU's threads: "znver5/4". The target's kind stands for a processor
// without a name.
std::string ShortTarget(std::string_view target);
// The first digits of a fingerprint, as many as `--device` and `--device-class` need.
std::string ShortDevice(std::string_view fingerprint);

}  // namespace hone::cli

#endif  // HONE_CLI_SHORT_TEXT_H_
