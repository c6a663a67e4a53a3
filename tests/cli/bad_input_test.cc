// Bad input: its documented exit code, one sentence that names the thing and the remedy, nothing
// changed on disk.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/host.h"
#include "support/random.h"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

class BadInput : public ::testing::Test {
 protected:
  // Runs, and expects the exit code, one line of message that has `words`, and an unchanged folder.
  void Expect(const std::vector<std::string>& args, int exit_code,
              const std::vector<std::string>& words) {
    const std::string before = folder_.Snapshot();
    const Finished finished = RunHone(args, folder_.path());
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    for (const std::string& word : words) EXPECT_THAT(finished.err, HasSubstr(word));
    EXPECT_EQ(folder_.Snapshot(), before);
  }
  void ExportMlp() {
    ASSERT_EQ(RunHone({"zoo", "mlp", "-o", "mlp.onnx"}, folder_.path()).exit_code, 0);
  }

  TestFolder folder_;
};

TEST_F(BadInput, UnknownVerb) { Expect({"tuen", "m.onnx"}, 2, {"tuen"}); }
TEST_F(BadInput, UnknownVerbOfAVerb) { Expect({"log", "statistics"}, 2, {"log statistics"}); }
TEST_F(BadInput, UnknownFlag) { Expect({"tune", "m.onnx", "--trails", "3"}, 2, {"--trails"}); }

TEST_F(BadInput, UnknownSearch) {
  ExportMlp();
  Expect({"tune", "mlp.onnx", "--search", "oracle"}, 2, {"oracle", "xgboost"});
}

TEST_F(BadInput, JobThatIsNoNumber) { Expect({"job", "watch", "mine"}, 2, {"mine"}); }
TEST_F(BadInput, JobOfNoServer) {
  Expect({"job", "cancel", "1", "--server", "unix:/nonexistent/socket"}, 5,
         {"/nonexistent/socket"});
}

TEST_F(BadInput, PostgresServerThatCannotBeReached) {
  const std::string database = "postgresql://hone@/hone?host=/nonexistent/folder";
  const std::vector<std::vector<std::string>> verbs = {{"db", "check"},
                                                       {"db", "migrate"},
                                                       {"db", "prune", "--keep", "90d"},
                                                       {"db", "retract", "1", "--reason", "lies"},
                                                       {"job", "list"},
                                                       {"job", "cancel", "1"},
                                                       {"job", "pause", "1"},
                                                       {"job", "resume", "1"},
                                                       {"job", "clone", "1"},
                                                       {"log", "list"},
                                                       {"log", "best"}};
  for (std::vector<std::string> args : verbs) {
    SCOPED_TRACE(args[0] + " " + args[1]);
    args.insert(args.end(), {"--db", database});
    Expect(args, 5, {"/nonexistent/folder"});
  }
}

TEST_F(BadInput, PostgresDatabaseWhereAFileIsNeeded) {
  const std::string database = "postgresql://hone@/hone?host=/nonexistent/folder";
  Expect({"db", "migrate", "--dry-run", "--db", database}, 3, {"PostgreSQL", "pg_dump"});
  Expect({"db", "backup", "copy.db", "--db", database}, 3, {"PostgreSQL", "pg_dump"});
}

TEST_F(BadInput, UnknownTarget) {
  ExportMlp();
  Expect({"compile", "mlp.onnx", "-o", "m.so", "--target", "llvm -mcpu=z80"}, 2, {"z80"});
}

TEST_F(BadInput, TuningHereForAnotherArchitecture) {
  ExportMlp();
  const std::string other = HostTargetText(1).find("x86_64") == std::string::npos
                                ? "llvm -mtriple=x86_64-linux-gnu"
                                : "llvm -mtriple=aarch64-linux-gnu";
  Expect({"tune", "mlp.onnx", "--db", "hone.db", "--target", other}, 2, {"--server"});
}

TEST_F(BadInput, ZooModelOfAnotherFormat) {
  Expect({"zoo", "mlp", "-o", "mlp.relay"}, 3, {"ends in .onnx", "mlp.relay"});
}

TEST_F(BadInput, UnknownZooModel) { Expect({"zoo", "resnet19"}, 3, {"resnet19"}); }
TEST_F(BadInput, MissingModel) { Expect({"compile", "no.onnx", "-o", "m.so"}, 3, {"no.onnx"}); }

TEST_F(BadInput, PbThatIsNoGraph) {
  WriteFile(folder_ / "m.pb", "no graph");
  Expect({"compile", "m.pb", "-o", "m.so"}, 3, {"m.pb", "frozen TensorFlow GraphDef"});
}

TEST_F(BadInput, TruncatedModel) {
  ExportMlp();
  const std::string whole = ReadFile(folder_ / "mlp.onnx");
  WriteFile(folder_ / "cut.onnx", whole.substr(0, whole.size() / 2));
  Expect({"compile", "cut.onnx", "-o", "m.so"}, 3, {"cut.onnx", "export it again"});
}

TEST_F(BadInput, RandomBytes) {
  Random random(7);
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes.push_back(static_cast<char>(random.Next()));
  WriteFile(folder_ / "random.onnx", bytes);
  Expect({"compile", "random.onnx", "-o", "m.so"}, 3, {"random.onnx", "export it again"});
}

TEST_F(BadInput, FolderForAModel) {
  std::filesystem::create_directory(folder_ / "dir.onnx");
  Expect({"compile", "dir.onnx", "-o", "m.so"}, 3, {"dir.onnx", "a folder"});
}

TEST_F(BadInput, InputsOrOutputsOfOneName) {
  WriteFile(folder_ / "m.relay",
            "def @main(%x: float32, output_names=[\"y\", \"y\"]) { (nn.relu(%x), exp(%x)) }");
  Expect({"compile", "m.relay", "-o", "m.so"}, 3, {"two named y"});
  WriteFile(folder_ / "m.relay",
            "def @main(%x: (float32, float32), %\"x.0\": float32) { add(%x.1, %\"x.0\") }");
  Expect({"compile", "m.relay", "-o", "m.so"}, 3, {"two named x.0"});
}

TEST_F(BadInput, NumberOfThreads) {
  ExportMlp();
  for (const std::string threads : {"0", "-3", "1025", "1000000", "99999999999999999999", "two"}) {
    const std::string found = "expected a whole number from 1 to 1024, found '" + threads + "'";
    Expect({"compile", "mlp.onnx", "-o", "m.so", "--threads", threads}, 2, {"--threads", found});
    Expect({"run", "mlp.onnx", "--output-dir", "out", "--threads", threads}, 2, {found});
    Expect({"bench", "mlp.onnx", "--threads", threads}, 2, {found});
    Expect({"tune", "mlp.onnx", "--threads", threads}, 2, {found});
  }
  Expect({"compile", "mlp.onnx", "-o", "m.so", "--target", "native -threads=1025"}, 2, {"1024"});
}

// Each is one sentence, whatever is given, and says what would do.
TEST_F(BadInput, NumbersOfJobs) {
  ExportMlp();
  const auto found = [](const std::string& job) {
    return "JOB: expected a whole number from 1 to 9223372036854775807, found '" + job + "'";
  };
  for (const std::string job : {"0", "-1", "1.5", "one", "", "1 2", "9223372036854775808"}) {
    Expect({"job", "show", "--db", "none.db", "--", job}, 2, {found(job)});
  }
  for (const std::string verb : {"watch", "cancel", "pause", "resume", "clone"}) {
    Expect({"job", verb, "0"}, 2, {found("0")});
  }
  for (const std::string number : {"0", "1e3", "1000000001"}) {
    const std::string trials =
        "--trials: expected a whole number from 1 to 1000000000, found '" + number + "'";
    Expect({"job", "clone", "1", "--trials", number}, 2, {trials});
    Expect({"tune", "mlp.onnx", "--trials", number}, 2, {trials});
  }
  for (const std::string number : {"-1", "18446744073709551616"}) {
    Expect({"job", "clone", "1", "--seed", number}, 2, {"--seed", "found '" + number + "'"});
    Expect({"tune", "mlp.onnx", "--seed", number}, 2, {"--seed", "found '" + number + "'"});
  }
  Expect({"job", "clone", "1", "--priority", "5"}, 2, {"from -4 to 4"});
  Expect({"job", "submit", "mlp.onnx", "--priority", "high"}, 2, {"from -4 to 4"});
  Expect({"job", "watch", "1", "--after-seq", "-1"}, 2, {"--after-seq", "from 0 to"});
}

TEST_F(BadInput, TextsThatAreNoUtf8) {
  Expect({"job", "list", "--submitter", "\xff"}, 2, {"--submitter", "UTF-8"});
  Expect({"job", "clone", "1", "--client-id", "a\xc3"}, 2, {"--client-id", "UTF-8"});
}

TEST_F(BadInput, OutputThatIsNoFile) {
  ExportMlp();
  std::filesystem::create_directory(folder_ / "dir");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", folder_ / "link");
  const std::vector<std::pair<std::string, std::string>> outputs = {
      {"", "an empty one"}, {"dir", "a folder"}, {"pipe", "a pipe"}, {"link", "a pipe"}};
  for (const auto& [output, words] : outputs) {
    // Found before the model is looked at, so before any work.
    Expect({"compile", "no.onnx", "-o", output}, 3, {words});
    Expect({"compile", "mlp.onnx", "-o", output}, 3, {words});
    Expect({"show", "mlp.onnx", "-o", output}, 3, {words});
    Expect({"zoo", "mlp", "-o", output}, 3, {words});
  }
  Expect({"compile", "mlp.onnx", "-o", "no/m.so"}, 3, {"no/m.so"});
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_TRUE(std::filesystem::is_fifo(folder_ / "pipe"));
}

TEST_F(BadInput, UnknownPass) {
  ExportMlp();
  Expect({"show", "mlp.onnx", "--after", "Nope"}, 2, {"Nope", "FuseOps"});
}

TEST_F(BadInput, UnknownOperatorsAreListedAllAtOnce) {
  WriteFile(folder_ / "odd.onnx", ReadFile(HONE_TEST_DATA "/onnx/unknown_operators.onnx"));
  Expect({"compile", "odd.onnx", "-o", "m.so"}, 3,
         {"Frobnicate", "first_node", "Quux", "second_node"});
}

TEST_F(BadInput, MissingDatabase) {
  ExportMlp();
  Expect({"compile", "mlp.onnx", "-o", "m.so", "--db", "no.db"}, 3, {"no.db"});
}

TEST_F(BadInput, FileThatIsNoDatabase) {
  ExportMlp();
  WriteFile(folder_ / "text.db",
            "this is no database, whatever its name says; it is long enough to be one");
  Expect({"compile", "mlp.onnx", "-o", "m.so", "--db", "text.db"}, 3, {"text.db"});
  Expect({"db", "check", "--db", "text.db"}, 3, {"text.db"});
}

TEST_F(BadInput, WrongInputNameShapeAndDtype) {
  ExportMlp();
  ASSERT_EQ(
      RunHone({"compile", "mlp.onnx", "-o", "m.so", "--threads", "1"}, folder_.path()).exit_code,
      0);
  Expect({"run", "m.so", "--input", "nope=x.npy", "--output-dir", "out"}, 3, {"nope", "data"});
  // A .npy of float32 [2].
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  header.resize(117, ' ');
  header += '\n';
  const std::string npy = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(118) + '\0' +
                          header + std::string(8, '\0');
  WriteFile(folder_ / "short.npy", npy);
  Expect({"run", "m.so", "--input", "data=short.npy", "--output-dir", "out"}, 3,
         {"data", "28, 28"});
  std::string doubles = npy;
  doubles.replace(doubles.find("<f4"), 3, "<f8");
  WriteFile(folder_ / "double.npy", doubles + std::string(8, '\0'));
  Expect({"run", "m.so", "--input", "data=double.npy", "--output-dir", "out"}, 3,
         {"float64", "float32"});
}

TEST_F(BadInput, UnreachableServer) {
  ExportMlp();
  Expect({"tune", "mlp.onnx", "--server", "unix:/nonexistent/socket"}, 5, {"/nonexistent/socket"});
}

TEST_F(BadInput, RequireTunedWithoutTuning) {
  ExportMlp();
  Expect({"compile", "mlp.onnx", "-o", "m.so", "--require-tuned"}, 4, {"tune"});
}

TEST_F(BadInput, ServerOfTheEnvironmentIsNamed) {
  setenv("HONE_SERVER", "garbage", 1);
  Expect({"job", "list"}, 3, {"HONE_SERVER: expected"});
  unsetenv("HONE_SERVER");
}

TEST_F(BadInput, NothingIsSaidOfAJobThatIsRefused) {
  ExportMlp();
  // One line: no note on its few trials before the error.
  Expect({"tune", "no.onnx", "--trials", "2", "--db", "hone.db"}, 3, {"no.onnx"});
  Expect({"tune", "mlp.onnx", "--trials", "2", "--server", "unix:/nonexistent/socket"}, 5,
         {"/nonexistent/socket"});
}

// What scripts make of a variable that is not set.
TEST_F(BadInput, EmptyValuesOfFlags) {
  Expect({"tune", "model.onnx", "--db=", "--threads=1"}, 2, {"expected a value after --db="});
  Expect({"compile", "model.onnx", "-o", "m.so", "--target="}, 2, {"after --target="});
}

TEST_F(BadInput, DurationsThatAreNone) {
  ASSERT_EQ(RunHone({"zoo", "mlp", "-o", "mlp.onnx"}, folder_.path()).exit_code, 0);
  for (const char* time : {"nan", "inf", "1e300h", "-1s", "0", "5", "3 weeks"}) {
    Expect({"tune", "mlp.onnx", std::string("--time=") + time}, 2, {"duration such as 90s", time});
  }
}

TEST_F(BadInput, MoreThreadsThanATuneOfThisMachineHas) {
  ASSERT_EQ(RunHone({"zoo", "mlp", "-o", "mlp.onnx"}, folder_.path()).exit_code, 0);
  const std::string more = std::to_string(HostCoreCount() + 1);
  Expect({"tune", "mlp.onnx", "--threads", more}, 2,
         {"--threads of at most", "found " + more, "--server"});
}

}  // namespace
}  // namespace hone::cli
