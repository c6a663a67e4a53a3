#include <gtest/gtest.h>

#include "tests/tuning_db/readers_beside_writer.h"

namespace hone::tuning_db {
namespace {

TEST(Concurrency, ManyReadersBesideTheWriterSeeSoundStatesOnly) {
  ExpectReadersOfSqliteSeeSoundStates(std::chrono::seconds(5));
}

}  // namespace
}  // namespace hone::tuning_db
