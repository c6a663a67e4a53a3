// Two tunes at once on one database, of which one is killed at a random moment.
#ifndef HONE_TESTS_CLI_TWO_TUNES_H_
#define HONE_TESTS_CLI_TWO_TUNES_H_

#include <cstdint>

namespace hone::cli {

// Again and again, by each signal in turns: the other must end right, and nothing be left of the
// first. Expects it all.
void KillOneOfTwoTunes(int rounds, uint64_t seed);

}  // namespace hone::cli

#endif  // HONE_TESTS_CLI_TWO_TUNES_H_
