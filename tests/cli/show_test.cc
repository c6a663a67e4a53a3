// What `hone show` tells of the passes.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/run_hone.h"

namespace hone::cli {
namespace {

constexpr const char* kDropoutModel = R"(
def @main(%x: Tensor[(1, 4), float32], %w: Tensor[(3, 4), float32]) {
  %0 = nn.dense(%x, %w);
  %1 = nn.dropout(%0, rate=0.5);
  nn.relu(%1)
}
)";

class Show : public ::testing::Test {
 protected:
  void SetUp() override { WriteFile(folder_ / "m.relay", kDropoutModel); }
  Finished Run(std::vector<std::string> args) {
    args.insert(args.begin(), {"show", "m.relay"});
    return RunHone(args, folder_.path());
  }

  // Those that the refusal of an unknown name lists.
  std::vector<std::string> Steps() {
    const Finished refused = Run({"--after", "?"});
    EXPECT_EQ(refused.exit_code, 2);
    std::string list = refused.err.substr(refused.err.find("import"));
    list.erase(std::min(list.find(", found"), list.size()));
    std::erase(list, ',');
    std::istringstream words(list);
    return {std::istream_iterator<std::string>(words), {}};
  }

  TestFolder folder_;
};

TEST_F(Show, PrintsTheGraphAfterEveryPassByItsName) {
  for (const std::string& pass : Steps()) {
    const Finished shown = Run({"--after", pass});
    EXPECT_EQ(shown.exit_code, 0) << pass << shown.err;
    EXPECT_NE(shown.out.find("def @main"), std::string::npos) << pass;
  }
  EXPECT_GE(Steps().size(), 13u);
  EXPECT_NE(Run({"--after", "import"}).out.find("nn.dropout"), std::string::npos);
  EXPECT_EQ(Run({"--after", "SimplifyInference"}).out.find("nn.dropout"), std::string::npos);
}

TEST_F(Show, PrintsEachPassInOrderWithItsTime) {
  const Finished shown = Run({"--print-each-pass"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  size_t at = 0;
  for (const std::string& pass : Steps()) {
    const size_t found = shown.out.find("// " + pass + ": ", at);
    ASSERT_NE(found, std::string::npos) << pass;
    at = shown.out.find("def @main", found);
    ASSERT_NE(at, std::string::npos) << pass;
    EXPECT_NE(shown.out.substr(found, at - found).find(" ms, "), std::string::npos);
  }
  EXPECT_NE(shown.out.find("// in all: "), std::string::npos);
  const std::string first = Run({"--print-each-pass", "--after", "InlineFunctions"}).out;
  EXPECT_EQ(first.find("// DeadCode"), std::string::npos);
}

TEST_F(Show, TellsTheTimeOfEveryPass) {
  const Finished shown = Run({"--time-passes", "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const nlohmann::json document = nlohmann::json::parse(shown.out);
  EXPECT_EQ(document["schema"], 1);
  const std::vector<std::string> steps = Steps();
  ASSERT_EQ(document["passes"].size(), steps.size());
  double total = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(document["passes"][i]["name"], steps[i]);
    EXPECT_GT(document["passes"][i]["nodes"], 0);
    total += document["passes"][i]["ms"].get<double>();
  }
  EXPECT_NEAR(document["total_ms"].get<double>(), total, 1e-6);
  EXPECT_NE(Run({"--time-passes"}).out.find("FuseOps"), std::string::npos);
}

TEST_F(Show, RefusesPassesAsPictures) {
  EXPECT_EQ(Run({"--print-each-pass", "--format", "svg"}).exit_code, 2);
  EXPECT_EQ(Run({"--print-each-pass", "--time-passes"}).exit_code, 2);
  EXPECT_EQ(Run({"--json"}).exit_code, 2);
}

TEST_F(Show, LeavesADatabaseAloneThatItDoesNotNeed) {
  std::filesystem::create_directories(folder_.path() / "data/hone");
  WriteFile(folder_ / "data/hone/hone.db", "no database at all");
  const Finished shown = Run({});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_NE(shown.out.find("def @main"), std::string::npos);
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--after", "FuseOps"},
                                             {"--print-each-pass"},
                                             {"--time-passes"},
                                             {"--format", "tree"}}) {
    const Finished refused = Run(flags);
    EXPECT_EQ(refused.exit_code, 3) << flags[0];
    EXPECT_NE(refused.err.find("hone.db"), std::string::npos) << refused.err;
  }
}

}  // namespace
}  // namespace hone::cli
