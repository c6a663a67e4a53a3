// Many readers beside one writer.
#ifndef HONE_TESTS_TUNING_DB_READERS_BESIDE_WRITER_H_
#define HONE_TESTS_TUNING_DB_READERS_BESIDE_WRITER_H_

#include <chrono>

namespace hone::tuning_db {

// One thread settles trials in a database for so long; 32 read it, each over connections of its
// own, and expect that every state that they see holds together and none is older than the one
// before.
void ExpectReadersSeeSoundStates(std::chrono::seconds length);

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_READERS_BESIDE_WRITER_H_
