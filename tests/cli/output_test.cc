// What `-o` leaves: the file where its links lead, whole, and nothing beside it.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "gtest/gtest.h"
#include "tests/cli/run_hone.h"

namespace hone::cli {
namespace {

size_t FileCount(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(Output, GoesWhereASymlinkLeads) {
  TestFolder folder;
  std::filesystem::create_directory(folder / "far");
  std::filesystem::create_symlink("far/mlp.onnx", folder / "link.onnx");
  ASSERT_EQ(RunHone({"zoo", "mlp", "-o", "link.onnx"}, folder.path()).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.onnx"));
  WriteFile(folder / "far/old.so", "an older module");
  std::filesystem::create_symlink("far/old.so", folder / "link.so");
  const Finished compiled =
      RunHone({"compile", "link.onnx", "-o", "link.so", "--threads", "1"}, folder.path());
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.so"));
  EXPECT_EQ(ReadFile(folder / "far/old.so").substr(1, 3), "ELF");
  EXPECT_EQ(FileCount(folder / "far"), 2u);
}

TEST(Output, OfSeveralCompilesAtOnceIsOneOfThem) {
  TestFolder folder;
  ASSERT_EQ(RunHone({"zoo", "mlp", "-o", "mlp.onnx"}, folder.path()).exit_code, 0);
  std::filesystem::create_directory(folder / "out");
  std::vector<pid_t> compilers;
  for (int i = 0; i < 3; ++i) {
    compilers.push_back(fork());
    if (compilers.back() != 0) continue;
    _exit(RunHone({"compile", "mlp.onnx", "-o", "out/m.so", "--threads", "1"}, folder.path())
              .exit_code);
  }
  for (const pid_t compiler : compilers) {
    int status = 0;
    waitpid(compiler, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(FileCount(folder / "out"), 1u);
  EXPECT_EQ(RunHone({"bench", "out/m.so"}, folder.path()).exit_code, 0);
}

}  // namespace
}  // namespace hone::cli
