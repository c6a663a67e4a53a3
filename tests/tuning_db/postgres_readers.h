// Many readers beside one writer, on a PostgreSQL server.
#ifndef HONE_TESTS_TUNING_DB_POSTGRES_READERS_H_
#define HONE_TESTS_TUNING_DB_POSTGRES_READERS_H_

#include <chrono>
#include <string>

namespace hone::tuning_db {

// As ExpectReadersSeeSoundStates, in the empty database at this address.
void ExpectReadersOfPostgresSeeSoundStates(const std::string& address, std::chrono::seconds length);

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_POSTGRES_READERS_H_
