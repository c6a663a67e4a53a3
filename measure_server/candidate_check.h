// Checks the outputs of one candidate, in a process that runs none of its code.
#ifndef HONE_MEASURE_SERVER_CANDIDATE_CHECK_H_
#define HONE_MEASURE_SERVER_CANDIDATE_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "measure_server/kernel_description.h"
#include "measure_server/reference_file.h"
#include "measure_server/shared_places.h"

namespace hone::measure {

// Sees the memory that the candidate's process shares with this one, which no child that is forked
// later gets to see.
class CandidateCheck {
 public:
  // `reference` (null: outputs cannot be checked) outlives it.
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

  // False: no memory.
  bool Map(int shared_fd);

  // Whether its outputs are such as the reference has. Empty, or what differs.
  std::string FindWrongTable() const;
  // To be called before a run: nothing is computed then, and the red zones are whole.
  void Poison();
  // To be called after a run. Empty, or which buffer it wrote beyond.
  std::string FindDamaged() const;
  // Does what FindDamaged does, and says what is wrong with the outputs.
  std::string FindWrongOutput(InputSet set);
  // The largest that the floats have shown yet.
  double error_ratio() const { return error_ratio_; }

  // What a process takes that times the kernel and rotates constants of so many bytes.
  uint64_t MemoryBytes(uint64_t rotation_bytes) const;

  // Runs of all rounds, as the child's loop counts them.
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
