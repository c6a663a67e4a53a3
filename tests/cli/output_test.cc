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

TEST(Output, OfEachTensorHasAFileOfItsOwn) {
  TestFolder folder;
  WriteFile(folder / "m.relay",
            "def @main(%x: float32, output_names=[\"a/b\", \"a_b\"]) { (exp(%x), negative(%x)) }");
  // A header of the format's first version, padded to 64 bytes, and the number 0.
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (), }";
  WriteFile(folder / "x.npy", std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header +
                                  std::string(117 - header.size(), ' ') + "\n" +
                                  std::string(4, '\0'));
  const Finished run =
      RunHone({"run", "m.relay", "--input", "x=x.npy", "--output-dir", "out"}, folder.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(FileCount(folder / "out"), 4u);
  const std::string one("\0\0\x80\x3f", 4);
  EXPECT_TRUE(ReadFile(folder / "out/a_b.1.npy").ends_with(one));
  EXPECT_TRUE(ReadFile(folder / "out/a_b.npy").ends_with(std::string("\0\0\0\x80", 4)));
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
