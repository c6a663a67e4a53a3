#include "runtime/elf_check.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace hone {
namespace {

#ifdef __aarch64__
constexpr int kMachine = EM_AARCH64;
#else
constexpr int kMachine = EM_X86_64;
#endif
constexpr uint64_t kPageBytes = 4096;
constexpr const char* kDamaged = "damaged; compile it again";
constexpr const char* kCut = "cut; compile it again";

bool ReadAt(int fd, uint64_t offset, void* into, size_t size) {
  return pread(fd, into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

// What the loader takes on trust, in the order in which it would.
class ElfChecker {
 public:
  explicit ElfChecker(int fd) : fd_(fd) {}

  // Null, or what the file is instead.
  const char* Check() {
    struct stat info{};
    if (fstat(fd_, &info) != 0) return "not readable";
    if (S_ISDIR(info.st_mode)) return "a folder";
    if (!S_ISREG(info.st_mode)) return "no regular file";
    file_bytes_ = static_cast<uint64_t>(info.st_size);
    if (const char* fault = ReadSegments()) return fault;
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_offset > file_bytes_ || segment.p_filesz > file_bytes_ - segment.p_offset) {
        return kCut;
      }
      if (segment.p_type == PT_LOAD && !AddLoad(segment)) return kDamaged;
    }
    return AreLoadsWhole() && AreOthersLoaded() && IsDynamicSound() ? nullptr : kDamaged;
  }

  uint64_t end() const { return end_; }

 private:
  const char* ReadSegments() {
    Elf64_Ehdr header{};
    if (!ReadAt(fd_, 0, &header, sizeof(header)) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
        header.e_phentsize != sizeof(Elf64_Phdr)) {
      return "no shared object";
    }
    if (header.e_machine != kMachine) return "for another processor architecture";
    segments_.resize(header.e_phnum);
    const size_t size = segments_.size() * sizeof(Elf64_Phdr);
    if (header.e_phoff > file_bytes_ || !ReadAt(fd_, header.e_phoff, segments_.data(), size)) {
      return kCut;
    }
    end_ = header.e_phoff + size;
    return nullptr;
  }

  // Loaded segments ascend without a gap: one that is missing is one whose header is damaged.
  bool AddLoad(const Elf64_Phdr& load) {
    const uint64_t align = std::max(load.p_align, kPageBytes);
    if (load.p_filesz > load.p_memsz || (align & (align - 1)) != 0 ||
        (load.p_vaddr - load.p_offset) % kPageBytes != 0 || (load.p_flags & PF_R) == 0 ||
        (load.p_flags & (PF_W | PF_X)) == (PF_W | PF_X) || load.p_vaddr > UINT64_MAX / 4 ||
        load.p_memsz > UINT64_MAX / 4) {
      return false;
    }
    if (loads_.empty()) {
      if (load.p_offset != 0 || load.p_vaddr != 0) return false;
    } else {
      const uint64_t before = loads_.back().p_vaddr + loads_.back().p_memsz;
      if (load.p_vaddr < before || load.p_vaddr - before > align + kPageBytes) return false;
    }
    loads_.push_back(load);
    end_ = std::max(end_, load.p_offset + load.p_filesz);
    return true;
  }

  bool AreLoadsWhole() const {
    return std::any_of(loads_.begin(), loads_.end(),
                       [](const Elf64_Phdr& load) { return (load.p_flags & PF_X) != 0; });
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

  // The loader reads notes, itself (PT_PHDR) and PT_DYNAMIC where they say they are.
  bool AreOthersLoaded() {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type == PT_LOAD) continue;
      if (segment.p_type == PT_TLS || segment.p_type == PT_INTERP) return false;
      if (segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X) != 0) return false;
      if (segment.p_memsz == 0 && segment.p_filesz == 0) continue;
      const Elf64_Phdr* const load = LoadOf(segment.p_vaddr, segment.p_filesz);
      if (load == nullptr || segment.p_offset - load->p_offset != segment.p_vaddr - load->p_vaddr ||
          // Protection after relocation may reach to the page's end.
          segment.p_memsz > segment.p_filesz + kPageBytes) {
        return false;
      }
      if (segment.p_type != PT_DYNAMIC) continue;
      if (dynamic_ != nullptr || (load->p_flags & PF_W) == 0) return false;
      dynamic_ = &segment;
    }
    return dynamic_ != nullptr;
  }

  // The tables that symbols are found by and relocations are read from lie in the file.
  bool IsDynamicSound() const {
    std::vector<Elf64_Dyn> entries(dynamic_->p_filesz / sizeof(Elf64_Dyn));
    if (dynamic_->p_filesz % sizeof(Elf64_Dyn) != 0 ||
        dynamic_->p_vaddr % alignof(Elf64_Dyn) != 0 ||
        !ReadAt(fd_, dynamic_->p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn))) {
      return false;
    }
    uint64_t relocations = 0;
    uint64_t relocations_bytes = 0;
    bool has_symbols = false;
    bool has_end = false;
    for (const Elf64_Dyn& entry : entries) {
      has_end = has_end || entry.d_tag == DT_NULL;
      if (has_end) break;
      switch (entry.d_tag) {
        case DT_SYMTAB:
          has_symbols = true;
          [[fallthrough]];
        case DT_STRTAB:
        case DT_HASH:
        case DT_GNU_HASH:
          if (LoadOf(entry.d_un.d_ptr, 1) == nullptr) return false;
          break;
        case DT_RELA:
          relocations = entry.d_un.d_ptr;
          break;
        case DT_RELASZ:
          relocations_bytes = entry.d_un.d_val;
          break;
        default:
          break;
      }
    }
    return has_symbols && has_end &&
           (relocations_bytes == 0 || LoadOf(relocations, relocations_bytes) != nullptr);
  }

  const int fd_;
  uint64_t file_bytes_ = 0;
  uint64_t end_ = 0;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Phdr> loads_;
  const Elf64_Phdr* dynamic_ = nullptr;
};

}  // namespace

std::optional<uint64_t> CheckElf(int fd, std::string* fault) {
  ElfChecker checker(fd);
  const char* const found = checker.Check();
  if (found == nullptr) return checker.end();
  *fault = found;
  return std::nullopt;
}

}  // namespace hone
