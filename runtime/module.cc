#include "runtime/module.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>

#include "runtime/elf_check.h"
#include "runtime/host_cpu.h"
#include "runtime/missing_feature.h"
#include "runtime/tile_permission.h"

namespace hone {
namespace {

std::unique_ptr<Module> Fail(std::string* error, const std::string& message) {
  *error = message;
  return nullptr;
}

// A path of the descriptor in words that this process uses once. The loader keeps the words by
// which an object was opened as a name of it, for as long as it is loaded by anyone; a descriptor's
// number comes again, and the next module under the same words would be taken for that object.
// Between the folder and the number stands a count in binary, "/." for a one and "/" for a zero.
std::string FreshPathOf(int fd) {
  static std::atomic<uint64_t> opened = 0;
  std::string path = "/proc/self/fd";
  for (uint64_t count = ++opened; count > 0; count /= 2) path += count % 2 == 1 ? "/." : "/";
  return path + "/" + std::to_string(fd);
}

// What is mapped stays mapped without it.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

 private:
  const int fd_;
};

bool UsesTiles(const hone_module& table) {
  for (uint32_t k = 0; k < table.kernel_count; ++k) {
    const hone_kernel& kernel = table.kernels[k];
    for (uint32_t l = 0; l < kernel.launch_count; ++l) {
      if ((kernel.launches[l].flags & HONE_LAUNCH_TILES) != 0) return true;
    }
  }
  return false;
}

}  // namespace

std::unique_ptr<Module> Module::Open(const std::string& path, std::string* error,
                                     Parameters parameters) {
  // Not blocked by a pipe that nobody writes to; CheckElf refuses it.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return Fail(error, "expected a compiled module at " + path + ": " + std::strerror(errno));
  }
  return OpenDescriptor(fd, path, error, parameters);
}

std::unique_ptr<Module> Module::OpenBytes(const void* bytes, size_t size_bytes,
                                          std::string* error) {
  const int fd = memfd_create("hone-module", MFD_CLOEXEC);
  if (fd < 0) return Fail(error, std::string("memfd_create: ") + std::strerror(errno));
  const char* next = static_cast<const char*>(bytes);
  for (size_t left = size_bytes; left > 0;) {
    const ssize_t count = write(fd, next, left);
    if (count <= 0) {
      const std::string fault = std::strerror(errno);
      close(fd);
      return Fail(error, "writing a module to memory: " + fault);
    }
    next += count;
    left -= static_cast<size_t>(count);
  }
  return OpenDescriptor(fd, "a module in memory", error);
}

std::unique_ptr<Module> Module::OpenDescriptor(int fd, const std::string& name, std::string* error,
                                               Parameters parameters) {
  const Descriptor closed_at_the_end(fd);
  std::unique_ptr<Module> module(new Module);
  std::string fault;
  const std::optional<ElfParts> parts = CheckElf(fd, &fault);
  if (!parts) return Fail(error, "expected a compiled module, but " + name + " is " + fault);
  // By descriptor, so that code and parameters are of one file even when the path is replaced
  // meanwhile.
  module->handle_ = dlopen(FreshPathOf(fd).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module->handle_ == nullptr) {
    return Fail(error,
                "expected a compiled module, but " + name + " cannot be loaded: " + dlerror());
  }
  module->table_ = static_cast<const hone_module*>(dlsym(module->handle_, HONE_MODULE_SYMBOL));
  if (module->table_ == nullptr) {
    return Fail(error, "expected a module compiled by Hone, but " + name +
                           " has no symbol " HONE_MODULE_SYMBOL);
  }
  if (!CheckTables(*module->table_, &fault)) return Fail(error, name + ": " + fault);
  if (!parts->has_code && DeviceLaunchCount(*module->table_) == 0) {
    return Fail(error,
                "expected a compiled module, but " + name + " has no code; compile it again");
  }
  const std::string feature = MissingFeature(module->table_->target, HostFeatures());
  if (!feature.empty()) {
    return Fail(error, name + " was compiled for a processor with " + feature +
                           ", which this one lacks; compile it for this machine's target");
  }
  if (UsesTiles(*module->table_) && !AskForTiles(&fault)) {
    return Fail(error, name + " cannot run: " + fault +
                           "; compile it for a target without amx-tile (-mattr=-amx-tile)");
  }
  if (!module->MapParameters(fd, parts->end, name, error)) return nullptr;
  if (parameters == Parameters::kCopied && !module->CopyParameters(name, error)) return nullptr;
  return module;
}

bool Module::MapParameters(int fd, uint64_t code_bytes, const std::string& name,
                           std::string* error) {
  if (table_->parameters_bytes == 0) return true;
  struct stat info{};
  hone_trailer trailer{};
  const bool read =
      fstat(fd, &info) == 0 && info.st_size > static_cast<off_t>(sizeof(trailer)) &&
      pread(fd, &trailer, sizeof(trailer), info.st_size - static_cast<off_t>(sizeof(trailer))) ==
          static_cast<ssize_t>(sizeof(trailer));
  const uint64_t room = read ? static_cast<uint64_t>(info.st_size) - sizeof(trailer) : 0;
  if (!read || std::memcmp(trailer.magic, HONE_TRAILER_MAGIC, sizeof(trailer.magic)) != 0 ||
      trailer.parameters_bytes != table_->parameters_bytes ||
      trailer.parameters_offset % 4096 != 0 || trailer.parameters_offset < code_bytes ||
      trailer.parameters_offset > room ||
      trailer.parameters_bytes != room - trailer.parameters_offset) {
    *error = "expected " + std::to_string(table_->parameters_bytes) +
             " bytes of parameters at the end of " + name +
             ", found that the file is cut or damaged; compile it again";
    return false;
  }
  void* mapped = mmap(nullptr, trailer.parameters_bytes, PROT_READ, MAP_PRIVATE, fd,
                      static_cast<off_t>(trailer.parameters_offset));
  if (mapped == MAP_FAILED) {
    *error = "mapping the parameters of " + name + ": " + std::strerror(errno);
    return false;
  }
  // What is read from the disk now comes in huge pages where the file system has such. Systems that
  // know neither request map pages when they are first read.
  madvise(mapped, trailer.parameters_bytes, MADV_HUGEPAGE);
  madvise(mapped, trailer.parameters_bytes, MADV_POPULATE_READ);
  parameters_ = static_cast<const uint8_t*>(mapped);
  mapped_bytes_ = trailer.parameters_bytes;
  return true;
}

bool Module::CopyParameters(const std::string& name, std::string* error) {
  if (mapped_bytes_ == 0) return true;
  copied_parameters_ = Memory(mapped_bytes_);
  if (copied_parameters_.data() == nullptr) {
    *error = "expected " + std::to_string(mapped_bytes_) + " bytes for the parameters of " + name +
             ", found less free memory; open it without a copy";
    return false;
  }
  std::memcpy(copied_parameters_.data(), parameters_, mapped_bytes_);
  munmap(const_cast<uint8_t*>(parameters_), mapped_bytes_);
  mapped_bytes_ = 0;
  parameters_ = copied_parameters_.data();
  return true;
}

Module::~Module() {
  if (mapped_bytes_ > 0) munmap(const_cast<uint8_t*>(parameters_), mapped_bytes_);
  if (handle_ != nullptr) dlclose(handle_);
}

std::vector<const hone_device_launch*> DeviceLaunchesOf(const hone_module& table) {
  std::vector<const hone_device_launch*> first;
  const hone_device_launch* next = DeviceLaunchCount(table) > 0 ? table.device_launches : nullptr;
  for (uint32_t k = 0; k < table.kernel_count; ++k) {
    first.push_back(next);
    if (next != nullptr) next += table.kernels[k].launch_count;
  }
  return first;
}

uint64_t TripsOf(const hone_module& table, const hone_function& function, uint32_t call) {
  for (uint32_t r = 0; r < RepeatCount(table); ++r) {
    const hone_repeat& repeat = table.repeats[r];
    if (&table.functions[repeat.function] == &function && call >= repeat.first_call &&
        call - repeat.first_call < repeat.call_count) {
      return repeat.trips;
    }
  }
  return 1;
}

}  // namespace hone
