#include "tests/runtime/cuda/driver/guarded_memory.h"

#include <sys/mman.h>

#include <map>
#include <utility>

namespace {

std::map<uint64_t, std::pair<void*, size_t>>& Mappings() {
  static std::map<uint64_t, std::pair<void*, size_t>> mappings;
  return mappings;
}

}  // namespace

uint64_t MapGuarded(size_t size_bytes) {
  constexpr size_t kPage = 4096;
  const size_t inside = (size_bytes + kPage - 1) / kPage * kPage;
  void* const base =
      mmap(nullptr, inside + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return 0;
  mprotect(static_cast<char*>(base) + inside, kPage, PROT_NONE);
  const uint64_t address = reinterpret_cast<uint64_t>(base) + inside - size_bytes;
  Mappings()[address] = {base, inside + kPage};
  return address;
}

bool UnmapGuarded(uint64_t address) {
  const auto found = Mappings().find(address);
  if (found == Mappings().end()) return false;
  munmap(found->second.first, found->second.second);
  Mappings().erase(found);
  return true;
}
