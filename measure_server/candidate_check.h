// Checks the outputs of one candidate in a process that runs none of its code.
#ifndef HONE_MEASURE_SERVER_CANDIDATE_CHECK_H_
#define HONE_MEASURE_SERVER_CANDIDATE_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "measure_server/kernel_description.h"
#include "measure_server/reference_file.h"
#include "measure_server/shared_places.h"

namespace hone::measure {

// Reads the memory that the candidate's process shares with this one. Children that are forked
// later do not see that memory.
class CandidateCheck {
 public:
  // `reference` (null: outputs cannot be checked) must outlive this.
  CandidateCheck(KernelDescription description, const ReferenceFile* reference,
                 Guard guard = Guard::kPages)
      : description_(std::move(description)),
        guard_(guard),
        places_(description_.buffers().data(), static_cast<uint32_t>(description_.buffers().size()),
                guard),
        reference_(reference) {}
  ~CandidateCheck();
  CandidateCheck(const CandidateCheck&) = delete;
  CandidateCheck& operator=(const CandidateCheck&) = delete;

  // Maps the shared memory. False if there is no memory.
  bool Map(int shared_fd);

  // Compares the candidate's table of outputs with the reference's. Empty, or a sentence about what
  // differs.
  std::string FindWrongTable() const;
  // Call it before a run: fills the shared memory, that is, outputs and red zones, with kPoison.
  void Poison();
  // Call it after a run. Empty, or a sentence that says beyond which buffer the candidate wrote.
  std::string FindDamaged() const;
  // As FindDamaged, but also compares the outputs with the reference.
  std::string FindWrongOutput(InputSet set);
  // The largest error ratio that the floats have shown so far.
  double error_ratio() const { return error_ratio_; }

  // The bytes that a process takes that times the kernel and rotates `rotation_bytes` of constants.
  uint64_t MemoryBytes(uint64_t rotation_bytes) const;

  // The number of runs in all rounds, as the child counts them.
  uint64_t runs() const { return *static_cast<const volatile uint64_t*>(Shared(0)); }

 private:
  const void* Shared(uint64_t offset) const { return mapped_ + offset; }
  bool IsIntact(uint32_t buffer) const;
  const void* DataOf(uint32_t buffer) const;

  const KernelDescription description_;
  const Guard guard_;
  const SharedPlaces places_;
  const ReferenceFile* const reference_;
  uint8_t* mapped_ = nullptr;
  double error_ratio_ = 0;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CANDIDATE_CHECK_H_
