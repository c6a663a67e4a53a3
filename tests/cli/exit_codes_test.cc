// The same kind of failure ends every verb with the same code (docs/cli.md, Exit codes).
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/run_hone.h"
#include "tests/tuning_db/examples.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using Args = std::vector<std::string>;

// Every verb, with arguments that it takes.
std::vector<Args> AllVerbs() {
  return {{"zoo", "mlp"},
          {"show", "mlp.onnx"},
          {"compile", "mlp.onnx", "-o", "m.so"},
          {"run", "m.so", "--output-dir", "out"},
          {"bench", "m.so"},
          {"tune", "mlp.onnx"},
          {"explain", "mlp.onnx"},
          {"job", "submit", "mlp.onnx"},
          {"job", "list"},
          {"job", "show", "1"},
          {"job", "watch", "1"},
          {"job", "cancel", "1"},
          {"job", "pause", "1"},
          {"job", "resume", "1"},
          {"job", "clone", "1"},
          {"worker", "list"},
          {"worker", "show", "w"},
          {"worker", "drain", "w"},
          {"worker", "undrain", "w"},
          {"worker", "quarantine", "w", "--reason", "r"},
          {"worker", "release", "w"},
          {"auth", "add", "ann", "--role", "read"},
          {"auth", "list"},
          {"auth", "revoke", "ann"},
          {"log", "list"},
          {"log", "best"},
          {"log", "stats"},
          {"log", "show", "1"},
          {"log", "export"},
          {"log", "import", "x.log"},
          {"log", "merge", "a.db", "b.db"},
          {"db", "check"},
          {"db", "migrate"},
          {"db", "backup", "copy.db"},
          {"db", "copy", "a.db", "b.db"},
          {"db", "prune", "--keep", "1d"},
          {"db", "retract", "1", "--reason", "r"},
          {"doctor"}};
}

class ExitCodes : public ::testing::Test {
 protected:
  ExitCodes() {
    EXPECT_EQ(RunHone({"zoo", "mlp", "-o", "mlp.onnx"}, folder_.path()).exit_code, 0);
    const auto store =
        tuning_db::OpenSqliteStore(folder_ / "h.db", tuning_db::OpenMode::kCreate).value();
    store->SubmitJob(tuning_db::ExampleJob(store->EnsureTask(tuning_db::ExampleTask()).value()))
        .value();
    WriteFile(folder_ / "damaged", std::string(8192, 'x'));
    for (const char* name : {"damaged.onnx", "damaged.pb", "damaged.so", "damaged.db"}) {
      std::filesystem::copy_file(folder_ / "damaged", folder_ / name);
    }
  }

  // The verb ends with the code, and says why in one line.
  void Expect(const Args& args, int exit_code) {
    SCOPED_TRACE(testing::PrintToString(args));
    const Finished finished = RunHone(args, folder_.path());
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("hone: "));
  }
  void ExpectAll(const std::vector<Args>& verbs, const Args& more, int exit_code) {
    for (Args args : verbs) {
      args.insert(args.end(), more.begin(), more.end());
      Expect(args, exit_code);
    }
  }

  TestFolder folder_;
};

TEST_F(ExitCodes, AFlagThatAVerbDoesNotHaveIsUsage) {
  ExpectAll(AllVerbs(), {"--no-such-flag"}, 2);
  for (const Args& args : AllVerbs()) {
    Args bad = args;
    bad.push_back("--no-such-flag");
    EXPECT_THAT(RunHone(bad, folder_.path()).err, HasSubstr("found '--no-such-flag'"));
  }
}

TEST_F(ExitCodes, AValueThatAFlagDoesNotTakeIsUsage) {
  const std::vector<Args> bad = {{"zoo", "mlp", "--batch", "0"},
                                 {"zoo", "mlp", "--batch", "many"},
                                 {"compile", "mlp.onnx", "-o", "m.so", "--threads", "0"},
                                 {"bench", "mlp.onnx", "--rounds", "0"},
                                 {"tune", "mlp.onnx", "--trials", "0"},
                                 {"tune", "mlp.onnx", "--time", "5"},
                                 {"tune", "mlp.onnx", "--search", "magic"},
                                 {"job", "submit", "mlp.onnx", "--priority", "9"},
                                 {"job", "submit", "mlp.onnx", "--device-class", "x"},
                                 {"job", "show", "0"},
                                 {"job", "list", "--state", "gone"},
                                 {"job", "list", "--since", "soon"},
                                 {"job", "clone", "1", "--time", "5"},
                                 {"auth", "add", "ann", "--role", "boss"},
                                 {"auth", "add", "ann", "--role", "read", "--days", "0"},
                                 {"log", "list", "--limit", "x"},
                                 {"log", "list", "--format", "xml"},
                                 {"log", "show", "x"},
                                 {"db", "prune", "--keep", "5"},
                                 {"db", "retract", "x", "--reason", "r"}};
  for (const Args& args : bad) Expect(args, 2);
}

TEST_F(ExitCodes, WhatIsMissingIsUsage) {
  const std::vector<Args> bad = {{},
                                 {"job"},
                                 {"job", "show"},
                                 {"worker", "drain"},
                                 {"worker", "quarantine", "w"},
                                 {"auth", "add", "ann"},
                                 {"log", "import"},
                                 {"log", "merge", "a.db"},
                                 {"db", "backup"},
                                 {"db", "copy", "a.db"},
                                 {"db", "prune"},
                                 {"tune", "mlp.onnx", "--trials"},
                                 {"job", "list", "--db", "h.db", "--server", "unix:/x"}};
  for (const Args& args : bad) {
    Expect(args, 2);
    EXPECT_THAT(RunHone(args, folder_.path()).err, HasSubstr("expected "));
  }
}

TEST_F(ExitCodes, AMissingFileIsBadInput) {
  const std::vector<Args> bad = {{"show", "none.onnx"},
                                 {"compile", "none.onnx", "-o", "m.so"},
                                 {"run", "none.so", "--output-dir", "out"},
                                 {"bench", "none.so"},
                                 {"tune", "none.onnx", "--db", "own.db"},
                                 {"explain", "none.onnx"},
                                 {"compile", "mlp.onnx", "-o", "none/m.so"},
                                 {"zoo", "mlp", "-o", "none/m.onnx"},
                                 {"log", "import", "none.log", "--db", "h.db"},
                                 {"log", "merge", "h.db", "none.db"},
                                 {"db", "copy", "none.db", "b.db"},
                                 {"job", "list", "--server", "@none"}};
  for (const Args& args : bad) Expect(args, 3);
  const std::vector<Args> of_database = {{"compile", "mlp.onnx", "-o", "m.so"},
                                         {"explain", "mlp.onnx"},
                                         {"job", "list"},
                                         {"job", "show", "1"},
                                         {"job", "cancel", "1"},
                                         {"job", "pause", "1"},
                                         {"job", "resume", "1"},
                                         {"job", "clone", "1"},
                                         {"auth", "add", "ann", "--role", "read"},
                                         {"auth", "list"},
                                         {"auth", "revoke", "ann"},
                                         {"log", "list"},
                                         {"log", "best"},
                                         {"log", "stats"},
                                         {"log", "show", "1"},
                                         {"log", "export", "x.log"},
                                         {"db", "check"},
                                         {"db", "migrate"},
                                         {"db", "backup", "copy.db"},
                                         {"db", "prune", "--keep", "1d"},
                                         {"db", "retract", "1", "--reason", "r"}};
  ExpectAll(of_database, {"--db", "none.db"}, 3);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none.db"));
}

TEST_F(ExitCodes, ADamagedFileIsBadInput) {
  const std::vector<Args> bad = {{"show", "damaged.onnx"},
                                 {"compile", "damaged.pb", "-o", "m.so"},
                                 {"run", "damaged.so", "--output-dir", "out"},
                                 {"bench", "damaged.so"},
                                 {"tune", "damaged.onnx", "--db", "own.db"},
                                 {"explain", "damaged.onnx"},
                                 {"log", "import", "damaged", "--db", "h.db"},
                                 {"log", "merge", "h.db", "damaged.db"},
                                 {"db", "copy", "damaged.db", "b.db"}};
  for (const Args& args : bad) Expect(args, 3);
  const std::vector<Args> of_database = {{"compile", "mlp.onnx", "-o", "m.so"},
                                         {"explain", "mlp.onnx"},
                                         {"job", "list"},
                                         {"job", "show", "1"},
                                         {"job", "cancel", "1"},
                                         {"job", "clone", "1"},
                                         {"auth", "add", "ann", "--role", "read"},
                                         {"auth", "list"},
                                         {"log", "list"},
                                         {"log", "best"},
                                         {"log", "stats"},
                                         {"log", "show", "1"},
                                         {"log", "export", "x.log"},
                                         {"db", "check"},
                                         {"db", "migrate"},
                                         {"db", "backup", "copy.db"},
                                         {"db", "prune", "--keep", "1d"},
                                         {"db", "retract", "1", "--reason", "r"}};
  ExpectAll(of_database, {"--db", "damaged.db"}, 3);
}

TEST_F(ExitCodes, ADamagedPageIsBadInput) {
  std::string bytes = ReadFile(folder_ / "h.db");
  for (size_t i = bytes.size() - 2048; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
  WriteFile(folder_ / "bit.db", bytes);
  const Finished finished = RunHone({"db", "check", "--db", "bit.db"}, folder_.path());
  EXPECT_EQ(finished.exit_code, 3) << finished.out << finished.err;
}

TEST_F(ExitCodes, ANameThatIsTakenIsBadInput) {
  const Args add = {"auth", "add", "ann", "--role", "read", "--db", "h.db"};
  ASSERT_EQ(RunHone(add, folder_.path()).exit_code, 0);
  Expect(add, 3);
  Expect({"db", "backup", "damaged", "--db", "h.db"}, 3);
  Expect({"db", "copy", "h.db", "damaged"}, 3);
  Expect({"db", "copy", "h.db", "h.db"}, 3);
}

TEST_F(ExitCodes, WhatIsNotThereIsBadInput) {
  const std::vector<Args> bad = {{"job", "show", "9"},  {"job", "cancel", "9"},
                                 {"job", "pause", "9"}, {"job", "resume", "9"},
                                 {"job", "clone", "9"}, {"auth", "revoke", "nobody"},
                                 {"log", "show", "9"},  {"db", "retract", "9", "--reason", "r"}};
  ExpectAll(bad, {"--db", "h.db"}, 3);
}

TEST_F(ExitCodes, AServerThatIsAwayIsSaidSo) {
  const std::vector<Args> verbs = {{"compile", "mlp.onnx", "-o", "m.so"},
                                   {"explain", "mlp.onnx"},
                                   {"tune", "mlp.onnx"},
                                   {"job", "submit", "mlp.onnx"},
                                   {"job", "list"},
                                   {"job", "show", "1"},
                                   {"job", "watch", "1"},
                                   {"job", "cancel", "1"},
                                   {"job", "pause", "1"},
                                   {"job", "resume", "1"},
                                   {"job", "clone", "1"},
                                   {"worker", "list"},
                                   {"worker", "show", "w"},
                                   {"worker", "drain", "w"},
                                   {"worker", "undrain", "w"},
                                   {"worker", "quarantine", "w", "--reason", "r"},
                                   {"worker", "release", "w"},
                                   {"auth", "add", "ann", "--role", "read"},
                                   {"auth", "list"},
                                   {"auth", "revoke", "ann"},
                                   {"log", "list"},
                                   {"log", "best"},
                                   {"log", "stats"},
                                   {"log", "show", "1"},
                                   {"log", "export", "x.log"}};
  ExpectAll(verbs, {"--server", "unix:/nonexistent/socket"}, 5);
  // No honed has the database, and these need one.
  ExpectAll({{"job", "watch", "1"},
             {"job", "submit", "mlp.onnx"},
             {"worker", "list"},
             {"worker", "drain", "w"}},
            {"--db", "h.db"}, 5);
}

}  // namespace
}  // namespace hone::cli
