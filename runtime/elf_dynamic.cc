#include "runtime/elf_dynamic.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace hone {
namespace {

#ifdef __aarch64__
constexpr uint32_t kRelative = R_AARCH64_RELATIVE;
#else
constexpr uint32_t kRelative = R_X86_64_RELATIVE;
#endif

std::string Foreign(const std::string& what) {
  return "not made by hone: it has " + what + ", which no compiled module has";
}

// What the loader would do beyond relocating and finding symbols.
std::string NameOf(int64_t tag) {
  switch (tag) {
    case DT_NEEDED:
      return "other objects to load (DT_NEEDED)";
    case DT_INIT:
      return "code to run when it is loaded (DT_INIT)";
    case DT_INIT_ARRAY:
    case DT_INIT_ARRAYSZ:
      return "code to run when it is loaded (DT_INIT_ARRAY)";
    case DT_PREINIT_ARRAY:
    case DT_PREINIT_ARRAYSZ:
      return "code to run when it is loaded (DT_PREINIT_ARRAY)";
    case DT_FINI:
      return "code to run when it is closed (DT_FINI)";
    case DT_FINI_ARRAY:
    case DT_FINI_ARRAYSZ:
      return "code to run when it is closed (DT_FINI_ARRAY)";
    case DT_TEXTREL:
      return "relocations in its code (DT_TEXTREL)";
    case DT_JMPREL:
    case DT_PLTREL:
    case DT_PLTRELSZ:
      return "calls of other objects (DT_JMPREL)";
    default:
      return "the dynamic entry " + std::to_string(tag);
  }
}

class DynamicChecker {
 public:
  DynamicChecker(int fd, const std::vector<Elf64_Phdr>& loads) : fd_(fd), loads_(loads) {}

  std::string Check(const Elf64_Phdr& dynamic) {
    const std::string fault = TakeEntries(dynamic);
    if (!fault.empty()) return fault;
    const bool is_whole = has_end_ && symbols_ != 0 && strings_ != 0 && hash_ != 0 &&
                          InFile(symbols_, sizeof(Elf64_Sym)) && InFile(strings_, strings_bytes_) &&
                          strings_bytes_ > 0;
    if (!is_whole) return kDamagedObject;
    const std::string relocations = CheckRelocations();
    return relocations.empty() ? CheckSymbols() : relocations;
  }

 private:
  std::string TakeEntries(const Elf64_Phdr& dynamic) {
    std::vector<Elf64_Dyn> entries(dynamic.p_filesz / sizeof(Elf64_Dyn));
    if (dynamic.p_filesz % sizeof(Elf64_Dyn) != 0 || dynamic.p_vaddr % alignof(Elf64_Dyn) != 0 ||
        !ReadAt(dynamic.p_vaddr, entries.data(), entries.size() * sizeof(Elf64_Dyn))) {
      return kDamagedObject;
    }
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NULL) {
        has_end_ = true;
        break;
      }
      const std::string fault = Take(entry);
      if (!fault.empty()) return fault;
    }
    return "";
  }

  std::string Take(const Elf64_Dyn& entry) {
    const uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_SYMTAB:
        symbols_ = value;
        return "";
      case DT_STRTAB:
        strings_ = value;
        return "";
      case DT_STRSZ:
        strings_bytes_ = value;
        return "";
      case DT_GNU_HASH:
        hash_ = value;
        return "";
      case DT_RELA:
        relocations_ = value;
        return "";
      case DT_RELASZ:
        relocations_bytes_ = value;
        return "";
      case DT_RELACOUNT:
      case DT_BIND_NOW:
      case DT_SYMBOLIC:
        return "";
      // The loader takes these sizes for granted.
      case DT_SYMENT:
        return value == sizeof(Elf64_Sym) ? "" : kDamagedObject;
      case DT_RELAENT:
        return value == sizeof(Elf64_Rela) ? "" : kDamagedObject;
      case DT_FLAGS:
        if ((value & DF_TEXTREL) != 0) return Foreign(NameOf(DT_TEXTREL));
        return (value & ~uint64_t{DF_BIND_NOW | DF_SYMBOLIC}) == 0
                   ? ""
                   : Foreign("flags of the loader beyond DF_BIND_NOW");
      case DT_FLAGS_1:
        return (value & ~uint64_t{DF_1_NOW}) == 0 ? ""
                                                  : Foreign("flags of the loader beyond DF_1_NOW");
      default:
        return Foreign(NameOf(entry.d_tag));
    }
  }

  // Each writes an address into data that can be written.
  std::string CheckRelocations() const {
    constexpr size_t kMostAtOnce = 4096;
    if (relocations_bytes_ % sizeof(Elf64_Rela) != 0 ||
        (relocations_bytes_ > 0 && !InFile(relocations_, relocations_bytes_))) {
      return kDamagedObject;
    }
    std::vector<Elf64_Rela> part;
    for (uint64_t at = 0; at < relocations_bytes_; at += part.size() * sizeof(Elf64_Rela)) {
      part.resize(std::min<uint64_t>(kMostAtOnce, (relocations_bytes_ - at) / sizeof(Elf64_Rela)));
      if (!ReadAt(relocations_ + at, part.data(), part.size() * sizeof(Elf64_Rela))) {
        return kDamagedObject;
      }
      for (const Elf64_Rela& relocation : part) {
        const auto type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
        if (type != kRelative) {
          return Foreign("a relocation of type " + std::to_string(type));
        }
        if (!IsWritable(relocation.r_offset)) return kDamagedObject;
      }
    }
    return "";
  }

  // An indirect function would run when it is looked up. The loader finds symbols by the hash
  // table alone, so those that count are the ones it can reach.
  std::string CheckSymbols() const {
    uint32_t header[4] = {};  // buckets, first symbol, words of the filter, its shift
    if (!ReadAt(hash_, header, sizeof(header))) return kDamagedObject;
    const auto [bucket_count, first, filter_words, shift] = header;
    // The filter is indexed by masks of its size.
    if (bucket_count == 0 || filter_words == 0 || (filter_words & (filter_words - 1)) != 0 ||
        shift >= 64) {
      return kDamagedObject;
    }
    const uint64_t buckets_at = hash_ + sizeof(header) + uint64_t{8} * filter_words;
    const uint64_t chains_at = buckets_at + uint64_t{4} * bucket_count;
    if (!InFile(buckets_at, uint64_t{4} * bucket_count)) return kDamagedObject;
    std::vector<uint32_t> buckets(bucket_count);
    if (!ReadAt(buckets_at, buckets.data(), buckets.size() * sizeof(uint32_t)))
      return kDamagedObject;
    const uint32_t last = *std::max_element(buckets.begin(), buckets.end());
    if (last == 0) return "";  // it has none
    if (last < first || std::any_of(
                            buckets.begin(), buckets.end(),
                            [&](uint32_t bucket) { return bucket != 0 && bucket < first; })) {
      return kDamagedObject;
    }
    // The chain of the last bucket that has one ends the table.
    for (uint64_t symbol = first;; ++symbol) {
      uint32_t hash = 0;
      if (!ReadAt(chains_at + 4 * (symbol - first), &hash, sizeof(hash))) return kDamagedObject;
      const std::string fault = CheckSymbol(symbol);
      if (!fault.empty()) return fault;
      if (symbol >= last && (hash & 1) != 0) return "";
    }
  }

  std::string CheckSymbol(uint64_t number) const {
    Elf64_Sym symbol{};
    if (!ReadAt(symbols_ + number * sizeof(symbol), &symbol, sizeof(symbol)) ||
        symbol.st_name >= strings_bytes_) {
      return kDamagedObject;
    }
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (type == STT_OBJECT || type == STT_FUNC || type == STT_NOTYPE) return "";
    return Foreign("a symbol of type " + std::to_string(type));
  }

  // The load whose bytes of the file hold the range of addresses.
  const Elf64_Phdr* LoadOf(uint64_t address, uint64_t size) const {
    for (const Elf64_Phdr& load : loads_) {
      if (address >= load.p_vaddr && size <= load.p_filesz &&
          address - load.p_vaddr <= load.p_filesz - size) {
        return &load;
      }
    }
    return nullptr;
  }
  bool InFile(uint64_t address, uint64_t size) const { return LoadOf(address, size) != nullptr; }

  bool IsWritable(uint64_t address) const {
    return std::any_of(loads_.begin(), loads_.end(), [&](const Elf64_Phdr& load) {
      return (load.p_flags & PF_W) != 0 && address >= load.p_vaddr &&
             load.p_memsz >= sizeof(uint64_t) &&
             address - load.p_vaddr <= load.p_memsz - sizeof(uint64_t);
    });
  }

  bool ReadAt(uint64_t address, void* into, size_t size) const {
    const Elf64_Phdr* const load = LoadOf(address, size);
    if (load == nullptr) return false;
    const auto offset = static_cast<off_t>(load->p_offset + (address - load->p_vaddr));
    return pread(fd_, into, size, offset) == static_cast<ssize_t>(size);
  }

  const int fd_;
  const std::vector<Elf64_Phdr>& loads_;
  bool has_end_ = false;
  uint64_t symbols_ = 0;
  uint64_t strings_ = 0;
  uint64_t strings_bytes_ = 0;
  uint64_t hash_ = 0;
  uint64_t relocations_ = 0;
  uint64_t relocations_bytes_ = 0;
};

}  // namespace

std::string CheckDynamic(int fd, const std::vector<Elf64_Phdr>& loads, const Elf64_Phdr& dynamic) {
  return DynamicChecker(fd, loads).Check(dynamic);
}

}  // namespace hone
