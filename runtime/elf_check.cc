#include "runtime/elf_check.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/elf_dynamic.h"
#include "runtime/elf_machine.h"

namespace hone {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr const char* kCut = "cut; compile it again";
constexpr const char* kExecutableStack =
    "not made by hone: it asks for an executable stack, which no compiled module does";
constexpr const char* kWritableCode =
    "not made by hone: it has code that can be written, which no compiled module has";

bool ReadAt(int fd, uint64_t offset, void* into, size_t size) {
  return pread(fd, into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

// What the loader takes on trust, in the order in which it would.
class ElfChecker {
 public:
  explicit ElfChecker(int fd) : fd_(fd) {}

  // Empty, or what the file is instead.
  std::string Check() {
    struct stat info{};
    if (fstat(fd_, &info) != 0) return "not readable";
    if (S_ISDIR(info.st_mode)) return "a folder";
    if (!S_ISREG(info.st_mode)) return "no regular file";
    file_bytes_ = static_cast<uint64_t>(info.st_size);
    if (const char* fault = ReadSegments()) return fault;
    bool has_plain_stack = false;
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_offset > file_bytes_ || segment.p_filesz > file_bytes_ - segment.p_offset) {
        return kCut;
      }
      // Without one the loader takes it for an object of times when all stacks were executable.
      if (segment.p_type == PT_GNU_STACK) has_plain_stack = (segment.p_flags & PF_X) == 0;
      if (segment.p_type != PT_LOAD) continue;
      if ((segment.p_flags & (PF_W | PF_X)) == (PF_W | PF_X)) return kWritableCode;
      if (!AddLoad(segment)) return kDamagedObject;
    }
    if (!has_plain_stack) return kExecutableStack;
    if (!AreOthersLoaded()) return kDamagedObject;
    return CheckDynamic(fd_, loads_, *dynamic_);
  }

  ElfParts parts() const { return {end_, HasCode()}; }

 private:
  const char* ReadSegments() {
    Elf64_Ehdr header{};
    if (!ReadAt(fd_, 0, &header, sizeof(header)) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
        header.e_phentsize != sizeof(Elf64_Phdr)) {
      return "no shared object";
    }
    if (header.e_machine != kElfMachine) return "for another processor architecture";
    segments_.resize(header.e_phnum);
    const size_t size = segments_.size() * sizeof(Elf64_Phdr);
    if (header.e_phoff > file_bytes_ || !ReadAt(fd_, header.e_phoff, segments_.data(), size)) {
      return kCut;
    }
    end_ = header.e_phoff + size;
    return nullptr;
  }

  // Loaded segments ascend without a gap, but for what linkers leave for a segment of no bytes: one
  // that is missing is one whose header is damaged.
  bool AddLoad(const Elf64_Phdr& load) {
    const uint64_t align = std::max(load.p_align, kPageBytes);
    if (load.p_filesz > load.p_memsz || (align & (align - 1)) != 0 ||
        (load.p_vaddr - load.p_offset) % kPageBytes != 0 || (load.p_flags & PF_R) == 0 ||
        load.p_vaddr > UINT64_MAX / 4 || load.p_memsz > UINT64_MAX / 4) {
      return false;
    }
    if (loads_.empty()) {
      if (load.p_offset != 0 || load.p_vaddr != 0) return false;
    } else {
      const uint64_t before = loads_.back().p_vaddr + loads_.back().p_memsz;
      if (load.p_vaddr < before || load.p_vaddr - before > 2 * align + kPageBytes) return false;
    }
    loads_.push_back(load);
    end_ = std::max(end_, load.p_offset + load.p_filesz);
    return true;
  }

  bool HasCode() const {
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

  const int fd_;
  uint64_t file_bytes_ = 0;
  uint64_t end_ = 0;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Phdr> loads_;
  const Elf64_Phdr* dynamic_ = nullptr;
};

}  // namespace

std::optional<ElfParts> CheckElf(int fd, std::string* fault) {
  ElfChecker checker(fd);
  *fault = checker.Check();
  if (fault->empty()) return checker.parts();
  return std::nullopt;
}

}  // namespace hone
