// Runs nests on small integers, so that every order of summation gives the same bits.
#ifndef HONE_TESTS_COMPILER_SCHEDULE_NEST_CHECK_H_
#define HONE_TESTS_COMPILER_SCHEDULE_NEST_CHECK_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/loop/stmt.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/open_task.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// How the text of most workloads ends.
inline constexpr char kDefaultEnd[] = " accumulate=float32 numerics=default";

// The outputs of a nest, logical and row-major, as doubles. Inputs and constants are drawn from the
// seed by logical position, so nests of different layouts get the same tensors; pad lanes of inputs
// are zero. Fails the test where the interpreter does, or where pad lanes of an output are not 0.
// `given`: elements of inputs and constants, by name, in the place of what is drawn.
using GivenElements = std::map<std::string, std::vector<double>>;
std::vector<std::vector<double>> RunNest(const loop::Nest& nest, uint64_t seed,
                                         bool reverse_grid = false,
                                         const GivenElements& given = {});

// EXPECTs that both give the same outputs, but for `tolerance` times the largest value.
void ExpectSameResults(const loop::Nest& naive, const loop::Nest& scheduled, uint64_t seed,
                       const std::string& what, double tolerance = 0);
// What a config may be off by, of the largest value: those that transform their data round
// differently than the naive sum does, and what is summed of functions depends on the order.
double ToleranceOf(const OpenTask& open, const Config& config);

ops::KernelDefinition MustLower(const std::string& workload);
CpuTarget TestTarget(const std::string& text);

// Samples (signature, config) pairs of the template that matches, the default first; checks each
// against the naive nest. Returns how many were checked.
int CheckTemplate(const std::string& workload, const std::string& expected_template,
                  const CpuTarget& target, int samples, uint64_t seed);

// Checks the first configs of one strategy, up to 2000 of the kernel's space in each signature,
// against the naive nest. Returns how many were checked.
int CheckStrategy(const std::string& workload, const std::string& strategy,
                  const CpuTarget& target);

}  // namespace hone::schedule

#endif  // HONE_TESTS_COMPILER_SCHEDULE_NEST_CHECK_H_
