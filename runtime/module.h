// A compiled module that is open: its tables are checked and its parameters are in memory.
#ifndef HONE_RUNTIME_MODULE_H_
#define HONE_RUNTIME_MODULE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/memory.h"
#include "runtime/module_abi.h"

namespace hone {

// Owns the loaded code and the parameters; pointers into the tables are valid as long as the module
// lives. Immutable, so thread-safe.
class Module {
 public:
  // How parameters get into memory: mapped, so that processes share one copy and a model opens at
  // once; or copied into huge pages, so that large parameters cost fewer TLB misses.
  enum class Parameters { kMapped, kCopied };

  // Null with a sentence in *error if the file is not a sound module, if the processor lacks a
  // feature that the module was compiled for, or if the system refuses the registers that its code
  // uses (tile_permission.h). The file's code runs only when its functions are called, but loading
  // a shared object trusts it: open only files that you would execute.
  static std::unique_ptr<Module> Open(const std::string& path, std::string* error,
                                      Parameters parameters = Parameters::kMapped);
  // The same for bytes in memory.
  static std::unique_ptr<Module> OpenBytes(const void* bytes, size_t size_bytes,
                                           std::string* error);
  // The same for an open file, whose descriptor this function closes. Messages call the file
  // `name`.
  static std::unique_ptr<Module> OpenDescriptor(int fd, const std::string& name, std::string* error,
                                                Parameters parameters = Parameters::kMapped);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const hone_module& table() const { return *table_; }
  // Page-aligned and read-only; null if the module has none.
  const uint8_t* parameters() const { return parameters_; }

 private:
  Module() = default;
  // `code_bytes` is where the part of the file that the loader reads ends (ElfParts::end).
  bool MapParameters(int fd, uint64_t code_bytes, const std::string& name, std::string* error);
  bool CopyParameters(const std::string& name, std::string* error);

  void* handle_ = nullptr;
  const hone_module* table_ = nullptr;
  const uint8_t* parameters_ = nullptr;
  uint64_t mapped_bytes_ = 0;
  Memory copied_parameters_;
};

// The number of repeats of a module; 0 in ABI versions without repeats.
inline uint32_t RepeatCount(const hone_module& table) {
  return table.abi_version == HONE_MODULE_ABI_VERSION ? 0 : table.repeat_count;
}

// The numbers of codes and of device launches of a module; 0 in ABI versions without devices.
inline uint32_t CodeCount(const hone_module& table) {
  return table.abi_version < HONE_MODULE_ABI_VERSION_DEVICES ? 0 : table.code_count;
}
inline uint32_t DeviceLaunchCount(const hone_module& table) {
  return table.abi_version < HONE_MODULE_ABI_VERSION_DEVICES ? 0 : table.device_launch_count;
}

// For each kernel, the first of its device launches in the table, which are in the order of the
// kernel's launches. Null entries if the CPU runs the launches.
std::vector<const hone_device_launch*> DeviceLaunchesOf(const hone_module& table);

// How often one run of the function makes this call: the trips of the repeat that it is in, or 1.
uint64_t TripsOf(const hone_module& table, const hone_function& function, uint32_t call);

// Whether the tables are consistent; if not, *error says why in a sentence.
bool CheckTables(const hone_module& table, std::string* error);

}  // namespace hone

#endif  // HONE_RUNTIME_MODULE_H_
