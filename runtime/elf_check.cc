#include "runtime/elf_check.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace hone {
namespace {

#ifdef __aarch64__
constexpr int kMachine = EM_AARCH64;
#else
constexpr int kMachine = EM_X86_64;
#endif

bool ReadAt(int fd, uint64_t offset, void* into, size_t size) {
  return pread(fd, into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

bool Fail(std::string* fault, const char* message) {
  *fault = message;
  return false;
}

}  // namespace

bool CheckElf(int fd, std::string* fault) {
  struct stat info{};
  Elf64_Ehdr header{};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return Fail(fault, "no regular file");
  if (!ReadAt(fd, 0, &header, sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return Fail(fault, "no shared object");
  }
  if (header.e_machine != kMachine) return Fail(fault, "for another processor architecture");
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!ReadAt(fd, header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) {
    return Fail(fault, "cut");
  }
  const auto file_bytes = static_cast<uint64_t>(info.st_size);
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_offset > file_bytes || segment.p_filesz > file_bytes - segment.p_offset) {
      return Fail(fault, "cut");
    }
  }
  return true;
}

}  // namespace hone
