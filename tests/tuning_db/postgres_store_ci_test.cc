#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"
#include "tests/tuning_db/postgres_server.h"

namespace hone::tuning_db {
namespace {

// One server for all tests of this program; nullptr: it is not installed, or does not start.
PostgresServer* Server() {
  static const std::unique_ptr<PostgresServer> server =
      PostgresServer::WhyNot().empty() ? PostgresServer::Start() : nullptr;
  return server.get();
}

class OnServer final : public StoreFixture {
 public:
  OnServer() {
    if (Server() != nullptr) Server()->Clear();
  }
  std::unique_ptr<Store> Open() override {
    if (Server() == nullptr) return nullptr;
    auto store = OpenPostgresStore(Server()->Address(), OpenMode::kCreate);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  bool IsDurable() const override { return true; }
  std::string WhyNot() const override { return PostgresServer::WhyNot(); }
};

INSTANTIATE_TEST_SUITE_P(Postgres, Conformance,
                         testing::Values(StoreKind{"postgres",
                                                   [] { return std::make_unique<OnServer>(); }}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hone::tuning_db
