// The outputs of a reference kernel, in memory that processes share by descriptor.
#ifndef HONE_MEASURE_SERVER_REFERENCE_FILE_H_
#define HONE_MEASURE_SERVER_REFERENCE_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "measure_server/output_check.h"
#include "measure_server/run_protocol.h"
#include "measure_server/seeded_input.h"
#include "runtime/module_abi.h"

namespace hone::measure {

// Makes a sparse anonymous file, large enough for any reference. It takes memory only as it is
// written. -1 with errno on failure.
int MakeReferenceFile();
// Seals the file, so that nobody can change it any more. Closes `fd` and returns a descriptor that
// only reads, since a sealed file cannot be mapped shared through one that may write. -1 with errno
// on failure.
int SealReferenceFile(int fd);
// The bytes of memory that the file takes.
uint64_t ReferenceFileBytes(int fd);

// The file, mapped.
class ReferenceFile {
 public:
  ReferenceFile() = default;
  ~ReferenceFile();
  ReferenceFile(const ReferenceFile&) = delete;
  ReferenceFile& operator=(const ReferenceFile&) = delete;

  // Opens the file for the outputs of `kernel`, which come in pairs, values and magnitudes. False
  // with a sentence in *error on failure.
  bool OpenForWriting(int fd, const hone_kernel& kernel, std::string* error);
  // Opens the file for reading. Children that are forked later do not see the mapping. False with a
  // sentence in *error on failure.
  bool OpenForReading(int fd, std::string* error);

  uint32_t output_count() const { return header_->output_count; }
  uint64_t element_count(uint32_t output) const { return header_->element_count[output]; }
  ReferenceOutput Output(InputSet set, uint32_t output) const;

  // Copies the outputs of a run from the kernel's `buffers`.
  void Write(InputSet set, const hone_kernel& kernel, const std::vector<void*>& buffers);
  void MarkComplete() { header_->is_complete = 1; }

 private:
  bool Map(int fd, bool for_writing, std::string* error);
  double* Data(InputSet set, uint32_t output) const;

  ReferenceHeader* header_ = nullptr;
  size_t mapped_bytes_ = 0;
};

// The indices of the outputs in a kernel's buffer table.
std::vector<uint32_t> OutputsOf(const hone_kernel& kernel);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_REFERENCE_FILE_H_
