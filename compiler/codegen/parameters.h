// Writes a module with its parameters: they pass neither through LLVM nor through the linker.
#ifndef HONE_COMPILER_CODEGEN_PARAMETERS_H_
#define HONE_COMPILER_CODEGEN_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "support/digest.h"
#include "support/output_file.h"

namespace hone::codegen {

// Streams a module to a file: the shared object, padding to a page, the parameters, the trailer of
// runtime/module_abi.h. The file appears under its name when it is whole (Finish); an abandoned
// writer leaves nothing. Not thread-safe.
//
// Many parameters start at a huge page and are written in such: file systems that keep a file in
// pages as large as it was written in then map them so, and kernels that stream weights wait for
// few translations.
class ModuleWriter {
 public:
  // `parameters_bytes`: the section's size, as the module's table says. Errors of ResolveOutput
  // where the file cannot be made.
  static absl::StatusOr<ModuleWriter> Create(const std::string& path, std::string_view elf,
                                             uint64_t parameters_bytes);

  // Parameters at an offset into the parameter section, at least the end of those before; zeros
  // between.
  absl::Status Append(uint64_t offset_bytes, std::string_view bytes);
  // Zeros to the section's end, and the trailer, where there are parameters.
  absl::Status Finish();

 private:
  ModuleWriter(OutputFile file, uint64_t start, uint64_t parameters_bytes)
      : file_(std::move(file)), start_(start), parameters_bytes_(parameters_bytes) {}
  absl::Status AppendZeros(uint64_t count);
  absl::Status Add(std::string_view bytes);  // parameters

  OutputFile file_;
  uint64_t start_ = 0;  // of the parameters in the file
  uint64_t parameters_bytes_ = 0;
  uint64_t size_ = 0;    // of the parameters so far
  std::string pending_;  // of them, the last, less than a huge page
  Sha256Stream digest_;
};

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_PARAMETERS_H_
