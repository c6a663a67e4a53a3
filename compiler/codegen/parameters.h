// Writes a module to a file with its parameters, which pass neither through LLVM nor through the
// linker.
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
// runtime/module_abi.h. The file appears under its name only when Finish succeeds; a writer that is
// destroyed before leaves nothing. Not thread-safe.
//
// A large parameter section starts on the boundary of a huge page and is written in pieces of that
// size. File systems that keep a file in pages of the size in which it was written can then map
// huge pages, so that kernels that stream weights have few TLB misses.
class ModuleWriter {
 public:
  // `parameters_bytes` is the size of the parameter section, as in the module's table. Errors are
  // those of ResolveOutput if the file cannot be made.
  static absl::StatusOr<ModuleWriter> Create(const std::string& path, std::string_view elf,
                                             uint64_t parameters_bytes);

  // Writes parameters at an offset in the parameter section, which must not be before the end of
  // the previous ones. Fills the gap with zeros.
  absl::Status Append(uint64_t offset_bytes, std::string_view bytes);
  // If there are parameters, fills the section with zeros to its end and writes the trailer.
  absl::Status Finish();

 private:
  ModuleWriter(OutputFile file, uint64_t start, uint64_t parameters_bytes)
      : file_(std::move(file)), start_(start), parameters_bytes_(parameters_bytes) {}
  absl::Status AppendZeros(uint64_t count);
  absl::Status Add(std::string_view bytes);  // parameters

  OutputFile file_;
  uint64_t start_ = 0;  // where the parameters begin in the file
  uint64_t parameters_bytes_ = 0;
  uint64_t size_ = 0;    // bytes of parameters so far
  std::string pending_;  // the last of them, less than a huge page, not yet written
  Sha256Stream digest_;
};

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_PARAMETERS_H_
