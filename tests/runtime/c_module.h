// Modules written in C, compiled by the system's compiler when a test runs.
#ifndef HONE_TESTS_RUNTIME_C_MODULE_H_
#define HONE_TESTS_RUNTIME_C_MODULE_H_

#include <string>

namespace hone {

// A folder of one test, gone with it.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Compiles `source` (which may include "runtime/module_abi.h") and returns the path of the shared
// object; aborts the test where the compiler refuses. `flags` come last.
std::string CompileC(const TestFolder& folder, const std::string& name, const std::string& source,
                     const std::string& flags = "");

// Appends page-aligned parameters and their trailer.
void AppendParameters(const std::string& path, const std::string& bytes);

std::string ReadBytes(const std::string& path);
void WriteBytes(const std::string& path, const std::string& bytes);

}  // namespace hone

#endif  // HONE_TESTS_RUNTIME_C_MODULE_H_
