#include "measure_server/candidate_check.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "measure_server/layout_map.h"
#include "measure_server/output_check.h"
#include "measure_server/run_protocol.h"

namespace hone::measure {

CandidateCheck::~CandidateCheck() {
  if (mapped_ != nullptr) munmap(mapped_, places_.total_bytes());
}

bool CandidateCheck::Map(int shared_fd) {
  if (!places_.ok()) return false;
  void* mapped = mmap(nullptr, places_.total_bytes(), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE, shared_fd, 0);
  if (mapped == MAP_FAILED) return false;
  mapped_ = static_cast<uint8_t*>(mapped);
  madvise(mapped_, places_.total_bytes(), MADV_DONTFORK);
  return true;
}

uint64_t CandidateCheck::MemoryBytes(uint64_t rotation_bytes) const {
  constexpr uint64_t kOwnBytes = uint64_t{16} << 20;
  uint64_t bytes = kOwnBytes + places_.total_bytes() + rotation_bytes;
  for (const hone_buffer& buffer : description_.buffers()) {
    const bool is_constant = buffer.role == HONE_ROLE_CONSTANT || buffer.role == HONE_ROLE_PREPARED;
    // Rotating ones are one copy more than what is filled with them.
    bytes += buffer.size_bytes * (rotation_bytes > 0 && is_constant ? 2 : 1);
  }
  return bytes;
}

std::string CandidateCheck::FindWrongTable() const {
  uint32_t outputs = 0;
  for (const hone_buffer& buffer : description_.buffers()) {
    if (buffer.role != HONE_ROLE_OUTPUT) continue;
    const uint32_t output = outputs++;
    if (output >= reference_->output_count()) continue;
    const auto elements = static_cast<uint64_t>(LayoutMap::Of(buffer).logical_count());
    if (elements != reference_->element_count(output)) {
      return fmt::format("{} has not as many elements as the reference", buffer.name);
    }
  }
  if (outputs == reference_->output_count()) return "";
  return fmt::format("has {} outputs, the reference {}", outputs, reference_->output_count());
}

void CandidateCheck::Poison() {
  std::memset(mapped_ + kPageBytes, kPoison, places_.total_bytes() - kPageBytes);
}

std::string CandidateCheck::FindDamaged() const {
  for (uint32_t b = 0; b < description_.buffers().size(); ++b) {
    if (!IsIntact(b)) {
      return fmt::format("wrote beyond the ends of buffer {}", description_.buffers()[b].name);
    }
  }
  return "";
}

std::string CandidateCheck::FindWrongOutput(InputSet set) {
  if (std::string damage = FindDamaged(); !damage.empty()) return damage;
  uint32_t output = 0;
  for (uint32_t b = 0; b < description_.buffers().size(); ++b) {
    const hone_buffer& buffer = description_.buffers()[b];
    if (buffer.role != HONE_ROLE_OUTPUT) continue;
    const OutputVerdict verdict = CheckOutput(buffer, DataOf(b), reference_->Output(set, output++),
                                              description_.error_bound());
    if (set == InputSet::kFloat) error_ratio_ = std::max(error_ratio_, verdict.error_ratio);
    if (!verdict.ok) return verdict.message;
  }
  return "";
}

bool CandidateCheck::IsIntact(uint32_t buffer) const {
  const SharedPlace& place = places_[buffer];
  if (place.bytes == 0) return true;
  const uint64_t size_bytes = description_.buffers()[buffer].size_bytes;
  const GuardedExtent extent = GuardedExtent::Of(size_bytes, guard_);
  const auto is_poison = [&](uint64_t begin, uint64_t end) {
    return std::all_of(mapped_ + place.offset + begin, mapped_ + place.offset + end,
                       [](uint8_t byte) { return byte == kPoison; });
  };
  const uint64_t after = extent.inner_bytes - extent.data_at - size_bytes;
  return is_poison(0, extent.data_at) && is_poison(place.bytes - after, place.bytes);
}

const void* CandidateCheck::DataOf(uint32_t buffer) const {
  const GuardedExtent extent = GuardedExtent::Of(description_.buffers()[buffer].size_bytes, guard_);
  return mapped_ + places_[buffer].offset + extent.data_at;
}

}  // namespace hone::measure
