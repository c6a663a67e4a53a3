#include "tests/tuning_db/postgres_fixture.h"
#include "tests/tuning_db/postgres_readers.h"

namespace hone::tuning_db {
namespace {

using PostgresReaders = PostgresFixture;

TEST_F(PostgresReaders, ManyBesideTheWriterForAMinuteSeeSoundStatesOnly) {
  ExpectReadersOfPostgresSeeSoundStates(server_->Address(), std::chrono::seconds(60));
}

}  // namespace
}  // namespace hone::tuning_db
