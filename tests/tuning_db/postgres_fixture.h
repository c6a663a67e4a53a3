// Tests on a PostgreSQL server, which begin on an empty database. They are skipped where the server
// is not installed.
#ifndef HONE_TESTS_TUNING_DB_POSTGRES_FIXTURE_H_
#define HONE_TESTS_TUNING_DB_POSTGRES_FIXTURE_H_

#include <gtest/gtest.h>

#include "tests/tuning_db/postgres_server.h"

namespace hone::tuning_db {

class PostgresFixture : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::WhyNot().empty()) GTEST_SKIP() << PostgresServer::WhyNot();
    server_ = PostgresServer::Shared();
    ASSERT_NE(server_, nullptr);
    server_->Clear();
  }

  PostgresServer* server_ = nullptr;
};

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_POSTGRES_FIXTURE_H_
