#include "compiler/driver/config_source.h"

#include <gtest/gtest.h>

#include <set>

#include "compiler/ir/parser.h"
#include "tests/compiler/driver/compiled.h"

namespace hone::driver {
namespace {

// A database that may be gone.
struct Database {
  bool is_gone = false;
  std::multiset<std::string> asked;  // signatures
};

class DatabaseSource : public ConfigSource {
 public:
  explicit DatabaseSource(Database* database) : database_(*database) {}
  absl::StatusOr<std::optional<ConfigChoice>> Find(const schedule::Task& task) override {
    database_.asked.insert(task.def->workload.digest + task.signature.ToString());
    if (database_.is_gone) return absl::UnavailableError("the database is gone");
    return std::nullopt;
  }

 private:
  Database& database_;
};

TEST(ConfigChain, AnErrorOfASourceIsNotRememberedAsNoAnswer) {
  const ir::Module module =
      ir::ParseModule("def @main(%x: Tensor[(8, 8), float32]) { nn.relu(%x) }").value();
  const CpuTarget target = CpuTarget::Parse("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4").value();
  Database database{.is_gone = true, .asked = {}};
  ConfigChain chain;
  chain.Add(std::make_unique<DatabaseSource>(&database));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(TasksOf(module, target, &chain).status().code(), absl::StatusCode::kUnavailable);
  }
  database = {};
  EXPECT_TRUE(TasksOf(module, target, &chain).ok());
  const std::multiset<std::string> asked = database.asked;
  EXPECT_FALSE(asked.empty());
  EXPECT_TRUE(TasksOf(module, target, &chain).ok());
  EXPECT_EQ(database.asked, asked);  // answers are remembered
}

}  // namespace
}  // namespace hone::driver
