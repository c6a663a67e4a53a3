// Many readers beside one writer.
#ifndef HONE_TESTS_TUNING_DB_READERS_BESIDE_WRITER_H_
#define HONE_TESTS_TUNING_DB_READERS_BESIDE_WRITER_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "tuning_db/store.h"

namespace hone::tuning_db {

// In this order: records, settled trials, what progress counts, events with a record, leases,
// leased trials.
using Counts = std::array<int64_t, 6>;
// One statement, which sees one snapshot, that asks for Counts.
inline constexpr char kCounts[] =
    "SELECT (SELECT COUNT(*) FROM records), (SELECT COUNT(*) FROM trials WHERE state = 2), "
    "(SELECT COALESCE(SUM(trials), 0) FROM task_progress), "
    "(SELECT COUNT(*) FROM events WHERE record IS NOT NULL), "
    "(SELECT COUNT(*) FROM leases), (SELECT COUNT(*) FROM trials WHERE state = 1)";

// A database, and how it is read beside its store.
struct ReadDatabase {
  std::function<std::unique_ptr<Store>(OpenMode mode)> open;
  // Asks kCounts over a connection of its own.
  std::function<std::function<Counts()>()> look;
};

// One thread settles trials in a database for so long; 32 read it, each over connections of its
// own, and expect that every state that they see holds together and none is older than the one
// before.
void ExpectReadersSeeSoundStates(const ReadDatabase& database, std::chrono::seconds length);
// The same of a database of SQLite.
void ExpectReadersOfSqliteSeeSoundStates(std::chrono::seconds length);

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_READERS_BESIDE_WRITER_H_
