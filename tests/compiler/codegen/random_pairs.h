// Random (workload, config) pairs: what is built of them, and whether it computes what it should.
#ifndef HONE_TESTS_COMPILER_CODEGEN_RANDOM_PAIRS_H_
#define HONE_TESTS_COMPILER_CODEGEN_RANDOM_PAIRS_H_

#include <set>
#include <string>

#include "tests/compiler/codegen/random_workload.h"

namespace hone::codegen {

struct Tally {
  int workloads = 0;
  int configs = 0;
  int failed_builds = 0;
  int wanted = 0;  // configs that the family wants
  int ran = 0;     // pairs that were built for what runs here
  int equal = 0;   // of those that ran: equal to the reference
  std::set<std::string> templates;
  std::set<std::string> strategies;
};

// Builds `configs` random configs of random workloads of a family (up to eight times as many,
// until one is what the family wants), for targets of every vector width, and checks those that run
// here. Fails the test, with what repeats it, for a wrong output, for more than one failed build in
// a hundred configs, where no config is one that the family wants, and where less than half of the
// pairs that ran equal the reference. The seed is HONE_RANDOM_SEED where the environment has it,
// else 1.
Tally CheckRandomPairs(const Family& family, int configs);

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_RANDOM_PAIRS_H_
