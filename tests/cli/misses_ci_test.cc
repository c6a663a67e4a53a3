// What compiles missed, and `hone tune --misses`, in a file and at a server.
#include "gmock/gmock.h"
#include "tests/cli/farm_fixture.h"

namespace hone::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Misses : public FarmAtASocket {
 protected:
  // The arguments, for this machine with one thread: the fixture's workers measure for that.
  std::vector<std::string> Of(const std::vector<std::string>& args,
                              const std::vector<std::string>& place) {
    std::vector<std::string> all = args;
    all.insert(all.end(), {"--target", "native -threads=1"});
    all.insert(all.end(), place.begin(), place.end());
    return all;
  }
  json Compile(const std::vector<std::string>& place) {
    return Hone(Of({"compile", "mlp.onnx", "-o", "mlp.so"}, place));
  }
  size_t Planned(const std::vector<std::string>& place) {
    return Hone(Of({"tune", "--misses", "--plan"}, place))["tasks"].size();
  }
};

TEST_F(Misses, OfCompilesAreTunedOnceAndThenAreNone) {
  const std::vector<std::string> db = {"--db", "hone.db"};
  // A database that is named has to be there.
  ASSERT_EQ(RunHone(Of({"tune", "mlp.onnx", "--trials", "1", "--micro-kernels", "never"}, db),
                    folder_.path())
                .exit_code,
            0);
  const size_t kernels = Compile(db)["kernels"].size();
  ASSERT_GT(kernels, 0);
  Compile(db);
  EXPECT_EQ(Planned(db), kernels) << "each once, however often it was missed";
  const json tuned =
      Hone(Of({"tune", "--misses", "--trials", "64", "--micro-kernels", "never"}, db));
  EXPECT_EQ(tuned["tasks"].size(), kernels);
  EXPECT_EQ(Planned(db), 0);
  EXPECT_EQ(
      Hone(Of({"compile", "mlp.onnx", "-o", "mlp.so", "--require-tuned"}, db))["counts"]["tuned"],
      kernels);
  const Finished again = RunHone(Of({"tune", "--misses"}, db), folder_.path());
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("lacks a tuned config"));
}

TEST_F(Misses, AreKeptInTheDefaultDatabaseWhereNothingWasTunedYet) {
  const size_t kernels = Compile({})["kernels"].size();
  EXPECT_EQ(Planned({}), kernels);
}

TEST_F(Misses, AreToldToTheServerAndTunedThere) {
  StartHoned();
  StartWorker("bench-1");
  const std::vector<std::string> server = {"--server", "unix:" + (folder_ / "hone/honed.sock")};
  const size_t kernels = Compile(server)["kernels"].size();
  EXPECT_EQ(Planned(server), kernels);
  // The same file, which the service holds.
  Compile({"--db", folder_ / "hone.db"});
  EXPECT_EQ(Planned(server), kernels);
  const json job = Hone(Of({"job", "submit", "--misses", "--trials", "1"}, server));
  EXPECT_EQ(job["kernels"], kernels);
  const std::string number = std::to_string(job["job"].get<int>());
  RunHone({"job", "watch", number, server[0], server[1]}, folder_.path());
  EXPECT_EQ(Hone({"job", "show", number, server[0], server[1]})["model"], "misses");
}

TEST_F(Misses, NothingToTuneIsSaid) {
  const Finished neither = RunHone({"tune"}, folder_.path());
  EXPECT_EQ(neither.exit_code, 2);
  EXPECT_THAT(neither.err, HasSubstr("expected a MODEL, or --misses"));
  const Finished none = RunHone({"tune", "--misses", "--json"}, folder_.path());
  EXPECT_EQ(none.exit_code, 0) << none.err;
  EXPECT_TRUE(json::parse(none.out)["tasks"].empty());
}

}  // namespace
}  // namespace hone::cli
