#include <gtest/gtest.h>

#include "tests/tuning_db/readers_beside_writer.h"

namespace hone::tuning_db {
namespace {

TEST(Concurrency, ManyReadersBesideTheWriterForAMinuteSeeSoundStatesOnly) {
  ExpectReadersOfSqliteSeeSoundStates(std::chrono::seconds(60));
}

}  // namespace
}  // namespace hone::tuning_db
