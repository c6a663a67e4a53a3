// The tables of a module are checked once, when it is opened, so that running it needs no checks.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data_type.h"
#include "runtime/layout.h"
#include "runtime/module.h"

namespace hone {
namespace {

constexpr uint32_t kMaxEntries = 1 << 20;

class Checker {
 public:
  Checker(const hone_module& table, std::string* error) : table_(table), error_(error) {}

  bool Check() {
    if (table_.abi_version < HONE_MODULE_ABI_VERSION ||
        table_.abi_version > HONE_MODULE_ABI_VERSION_DEVICES) {
      return Fail("expected module ABI version " + std::to_string(HONE_MODULE_ABI_VERSION) +
                  " to " + std::to_string(HONE_MODULE_ABI_VERSION_DEVICES) + ", found " +
                  std::to_string(table_.abi_version) + "; compile it again");
    }
    if (!Has(table_.kernels, table_.kernel_count) || table_.target == nullptr ||
        table_.toolchain == nullptr || !Has(table_.functions, table_.function_count)) {
      return Fail("the module's tables are damaged; compile it again");
    }
    for (uint32_t k = 0; k < table_.kernel_count; ++k) {
      if (!CheckKernel(table_.kernels[k])) return false;
    }
    for (uint32_t f = 0; f < table_.function_count; ++f) {
      if (!CheckFunction(table_.functions[f])) return false;
      if (!IsSpecialisationOf(table_.functions[0], table_.functions[f])) {
        return Fail("the functions of the module differ in more than shapes; compile it again");
      }
    }
    return CheckRepeats() && CheckCodes() && CheckDeviceLaunches();
  }

 private:
  bool Fail(const std::string& message) {
    *error_ = message;
    return false;
  }

  // A table of so many entries is there, and nobody has that many.
  static bool Has(const void* entries, uint32_t count) {
    return count <= kMaxEntries && (count == 0 || entries != nullptr);
  }

  // Size of a tensor in memory, or false where shape, dtype or layout make no sense.
  static bool SizeOf(uint8_t dtype, uint32_t rank, const int64_t* shape, const Layout& layout,
                     uint64_t* size_bytes) {
    if (dtype < 1 || dtype > static_cast<uint8_t>(kLastDataType)) return false;
    const std::vector<int64_t> extents(shape, shape + rank);
    uint64_t bytes = static_cast<uint64_t>(SizeBytes(static_cast<DataType>(dtype)));
    for (int64_t extent : extents) {
      if (extent < 0 || extent > INT64_MAX - Layout::kMaxBlock) return false;
    }
    for (int64_t extent : layout.PhysicalShape(extents)) {
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes)) return false;
    }
    *size_bytes = bytes;
    return true;
  }

  bool CheckKernel(const hone_kernel& kernel) {
    for (const char* text :
         {kernel.name, kernel.workload, kernel.workload_digest, kernel.config, kernel.tier}) {
      if (text == nullptr) return Fail("a kernel has a damaged table; compile it again");
    }
    const std::string name = kernel.name;
    if (!Has(kernel.buffers, kernel.buffer_count) || !Has(kernel.launches, kernel.launch_count)) {
      return Fail("kernel " + name + " has a damaged table");
    }
    for (uint32_t b = 0; b < kernel.buffer_count; ++b) {
      const hone_buffer& buffer = kernel.buffers[b];
      if (buffer.name == nullptr || buffer.layout == nullptr || buffer.rank > Layout::kMaxRank ||
          (buffer.rank > 0 && buffer.shape == nullptr) || buffer.role > HONE_ROLE_OUTPUT)
        return Fail("kernel " + name + " has a damaged buffer table");
      const auto layout = Layout::Parse(buffer.layout, buffer.rank);
      uint64_t size_bytes = 0;
      if (!layout || !SizeOf(buffer.dtype, buffer.rank, buffer.shape, *layout, &size_bytes) ||
          size_bytes != buffer.size_bytes) {
        return Fail("buffer " + std::string(buffer.name) + " of kernel " + name +
                    " has a size that does not fit its shape");
      }
    }
    for (uint32_t l = 0; l < kernel.launch_count; ++l) {
      const hone_launch& launch = kernel.launches[l];
      const bool by_device = DeviceLaunchCount(table_) > 0;
      if ((launch.function == nullptr) != by_device || launch.grid_extent < 1 ||
          launch.phase > HONE_PHASE_RUN) {
        return Fail("kernel " + name + " has a damaged launch table");
      }
    }
    return true;
  }

  bool CheckValue(const hone_value& value) {
    if (value.name == nullptr || value.rank > Layout::kMaxRank ||
        (value.rank > 0 && value.shape == nullptr)) {
      return Fail("an input or output is damaged; compile the module again");
    }
    uint64_t size_bytes = 0;
    if (!SizeOf(value.dtype, value.rank, value.shape,
                Layout::RowMajor(static_cast<int>(value.rank)), &size_bytes) ||
        size_bytes != value.size_bytes) {
      return Fail("tensor " + std::string(value.name) + " has a size that does not fit its shape");
    }
    return true;
  }

  static bool SameValue(const hone_value& a, const hone_value& b) {
    return a.dtype == b.dtype && std::string_view(a.name) == b.name;
  }

  // Whether the functions take and give the same values, in whatever shapes.
  static bool IsSpecialisationOf(const hone_function& a, const hone_function& b) {
    bool same = a.input_count == b.input_count && a.output_count == b.output_count;
    for (uint32_t i = 0; same && i < a.input_count; ++i) {
      same = SameValue(a.inputs[i], b.inputs[i]);
    }
    for (uint32_t i = 0; same && i < a.output_count; ++i) {
      same = SameValue(a.outputs[i], b.outputs[i]);
    }
    return same;
  }

  bool CheckFunction(const hone_function& function) {
    if (!Has(function.inputs, function.input_count) ||
        !Has(function.outputs, function.output_count) ||
        !Has(function.calls, function.call_count)) {
      return Fail("a function has a damaged table; compile the module again");
    }
    for (uint32_t i = 0; i < function.input_count; ++i) {
      if (!CheckValue(function.inputs[i])) return false;
    }
    for (uint32_t i = 0; i < function.output_count; ++i) {
      if (!CheckValue(function.outputs[i])) return false;
    }
    for (uint32_t c = 0; c < function.call_count; ++c) {
      const hone_call& call = function.calls[c];
      if (call.kernel >= table_.kernel_count)
        return Fail("a call names a kernel that is not there");
      const hone_kernel& kernel = table_.kernels[call.kernel];
      if (!Has(call.locations, kernel.buffer_count)) {
        return Fail("a call of kernel " + std::string(kernel.name) + " has a damaged table");
      }
      for (uint32_t b = 0; b < kernel.buffer_count; ++b) {
        if (call.locations[b].offset_bytes % HONE_BUFFER_ALIGNMENT != 0) {
          return Fail("a buffer of a call of kernel " + std::string(kernel.name) +
                      " is not aligned to 64 bytes");
        }
        if (!Fits(function, call.locations[b], kernel.buffers[b].size_bytes)) {
          return Fail("a call of kernel " + std::string(kernel.name) +
                      " reaches beyond its memory");
        }
      }
    }
    return true;
  }

  bool CheckRepeats() {
    const uint32_t count = RepeatCount(table_);
    if (!Has(count > 0 ? table_.repeats : nullptr, count)) {
      return Fail("the module's table of repeats is damaged; compile it again");
    }
    uint32_t function = 0;
    uint64_t next_call = 0;
    for (uint32_t r = 0; r < count; ++r) {
      const hone_repeat& repeat = table_.repeats[r];
      if (repeat.function != function) next_call = 0;
      const bool ascends = repeat.function >= function && repeat.first_call >= next_call;
      function = repeat.function;
      next_call = uint64_t{repeat.first_call} + repeat.call_count;
      if (!ascends || function >= table_.function_count || repeat.call_count == 0 ||
          next_call > table_.functions[function].call_count || repeat.trips == 0 ||
          repeat.trips > INT64_MAX || repeat.moves == nullptr) {
        return Fail("a repeat has a damaged table; compile the module again");
      }
      if (!CheckMoves(table_.functions[function], repeat)) return false;
    }
    return true;
  }

  bool CheckCodes() {
    const uint32_t count = CodeCount(table_);
    if (!Has(count > 0 ? table_.codes : nullptr, count)) {
      return Fail("the module's table of codes is damaged; compile it again");
    }
    for (uint32_t c = 0; c < count; ++c) {
      const hone_device_code& code = table_.codes[c];
      if (code.bytes == nullptr || code.options == nullptr || code.kind < HONE_CODE_OPENCL_C ||
          code.kind > HONE_CODE_PTX || code.kind != table_.codes[0].kind) {
        return Fail("a code of the module has a damaged table; compile it again");
      }
    }
    return true;
  }

  bool CheckDeviceLaunches() {
    const uint32_t count = DeviceLaunchCount(table_);
    uint64_t launches = 0;
    for (uint32_t k = 0; k < table_.kernel_count; ++k) launches += table_.kernels[k].launch_count;
    if (count == 0) return true;
    if (count != launches || !Has(table_.device_launches, count)) {
      return Fail("the module's table of device launches is damaged; compile it again");
    }
    const hone_device_launch* launch = table_.device_launches;
    for (uint32_t k = 0; k < table_.kernel_count; ++k) {
      for (uint32_t l = 0; l < table_.kernels[k].launch_count; ++l, ++launch) {
        if (IsSound(*launch, table_.kernels[k])) continue;
        return Fail("kernel " + std::string(table_.kernels[k].name) +
                    " has a damaged table of device launches");
      }
    }
    return true;
  }

  bool IsSound(const hone_device_launch& launch, const hone_kernel& kernel) const {
    bool sound = launch.entry != nullptr && launch.code < CodeCount(table_) &&
                 Has(launch.arguments, launch.argument_count);
    for (int d = 0; d < 3; ++d) {
      sound = sound && launch.blocks[d] >= 1 && launch.threads[d] >= 1;
    }
    for (uint32_t a = 0; sound && a < launch.argument_count; ++a) {
      sound = launch.arguments[a] < kernel.buffer_count;
    }
    return sound;
  }

  bool CheckMoves(const hone_function& function, const hone_repeat& repeat) {
    const hone_move* move = repeat.moves;
    for (uint32_t c = 0; c < repeat.call_count; ++c) {
      const hone_kernel& kernel = table_.kernels[function.calls[repeat.first_call + c].kernel];
      for (uint32_t b = 0; b < kernel.buffer_count; ++b, ++move) {
        hone_location last = move->next;
        if (!FindLast(repeat.trips, *move, &last)) {
          return Fail("a buffer of kernel " + std::string(kernel.name) +
                      " moves out of all memory in a repeat");
        }
        if (move->next.offset_bytes % HONE_BUFFER_ALIGNMENT != 0 ||
            move->stride_bytes % HONE_BUFFER_ALIGNMENT != 0) {
          return Fail("a buffer of a repeated call of kernel " + std::string(kernel.name) +
                      " is not aligned to 64 bytes");
        }
        const uint64_t size_bytes = kernel.buffers[b].size_bytes;
        // A null pointer must not move, and a place that no trip reaches is looked up all the same.
        const bool moves_nowhere = move->next.space == HONE_SPACE_NONE && move->stride_bytes != 0;
        const uint64_t reached_bytes = repeat.trips > 1 ? size_bytes : 0;
        if (moves_nowhere || !Fits(function, move->next, reached_bytes) ||
            !Fits(function, last, reached_bytes)) {
          return Fail("a repeated call of kernel " + std::string(kernel.name) +
                      " reaches beyond its memory");
        }
      }
    }
    return true;
  }

  // The place farthest from that of trip 1; false where it cannot be written as a number.
  static bool FindLast(uint64_t trips, const hone_move& move, hone_location* last) {
    if (trips < 3) return true;
    int64_t offset = 0;
    const int64_t steps = move.alternates != 0 ? 1 : static_cast<int64_t>(trips) - 2;
    if (last->offset_bytes > INT64_MAX ||
        __builtin_mul_overflow(steps, move.stride_bytes, &offset) ||
        __builtin_add_overflow(offset, static_cast<int64_t>(last->offset_bytes), &offset) ||
        offset < 0) {
      return false;
    }
    last->offset_bytes = static_cast<uint64_t>(offset);
    return true;
  }

  bool Fits(const hone_function& function, const hone_location& location,
            uint64_t size_bytes) const {
    uint64_t room = 0;
    switch (location.space) {
      case HONE_SPACE_NONE:
        return true;
      case HONE_SPACE_ARENA:
        room = function.arena_bytes;
        break;
      case HONE_SPACE_PARAMETERS:
        room = table_.parameters_bytes;
        break;
      case HONE_SPACE_INPUT:
        if (location.index >= function.input_count) return false;
        room = function.inputs[location.index].size_bytes;
        break;
      case HONE_SPACE_OUTPUT:
        if (location.index >= function.output_count) return false;
        room = function.outputs[location.index].size_bytes;
        break;
      default:
        return false;
    }
    return location.offset_bytes <= room && size_bytes <= room - location.offset_bytes;
  }

  const hone_module& table_;
  std::string* error_;
};

}  // namespace

bool CheckTables(const hone_module& table, std::string* error) {
  return Checker(table, error).Check();
}

}  // namespace hone
