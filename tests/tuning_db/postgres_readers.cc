#include "tests/tuning_db/postgres_readers.h"

#include <gtest/gtest.h>

#include "tests/tuning_db/readers_beside_writer.h"
#include "tuning_db/postgres/connection.h"

namespace hone::tuning_db {

void ExpectReadersOfPostgresSeeSoundStates(const std::string& address,
                                           std::chrono::seconds length) {
  ReadDatabase database;
  database.open = [&](OpenMode mode) { return OpenPostgresStore(address, mode).value(); };
  database.look = [&] {
    std::shared_ptr<postgres::Connection> db = postgres::Connection::Open(address).value();
    return [db] {
      const postgres::Rows rows = db->Query(kCounts).value();
      EXPECT_EQ(rows.size(), 1);
      Counts counts = {};
      for (int i = 0; i < static_cast<int>(counts.size()); ++i) {
        counts[static_cast<size_t>(i)] = rows[0].Integer(i);
      }
      return counts;
    };
  };
  ExpectReadersSeeSoundStates(database, length);
}

}  // namespace hone::tuning_db
