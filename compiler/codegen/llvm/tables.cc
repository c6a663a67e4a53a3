#include "compiler/codegen/llvm/tables.h"

#include <algorithm>
#include <array>
#include <map>

#include "compiler/codegen/llvm/values.h"
#include "compiler/loop/launch_access.h"
#include "llvm/IR/Constants.h"
#include "runtime/module_abi.h"

namespace hone::codegen {
namespace {

using llvm::Constant;
using llvm::ConstantInt;
using llvm::ConstantStruct;

// The layouts of runtime/module_abi.h, field by field; LLVM pads structs as C does.
class TableEmitter {
 public:
  TableEmitter(llvm::Module& module, const ModuleSpec& spec, const DeviceModule* device)
      : module_(module), spec_(spec), device_(device), b_(module.getContext()) {}

  void Emit(const std::vector<std::vector<LaunchEntry>>& launches, const std::string& toolchain) {
    std::vector<Constant*> kernels;
    for (size_t i = 0; i < spec_.kernels.size(); ++i) {
      kernels.push_back(Kernel(spec_.kernels[i], launches[i]));
    }
    std::vector<Constant*> functions;
    for (const FunctionSpec& function : spec_.functions) functions.push_back(Function(function));
    const std::vector<Constant*> repeats = Repeats();
    const std::vector<Constant*> codes = Codes();
    const std::vector<Constant*> device_launches = DeviceLaunches();
    Constant* table =
        Struct({I32(Version(!repeats.empty())), I32(kernels.size()), I32(functions.size()),
                I32(repeats.size()), Text(spec_.target.ToString()), Text(toolchain), Array(kernels),
                Array(functions), I64(spec_.parameters_bytes), Array(repeats), I32(codes.size()),
                I32(device_launches.size()), Array(codes), Array(device_launches)});
    auto* exported =
        new llvm::GlobalVariable(module_, table->getType(), /*isConstant=*/true,
                                 llvm::GlobalValue::ExternalLinkage, table, HONE_MODULE_SYMBOL);
    exported->setAlignment(llvm::Align(8));
  }

 private:
  // The oldest that has all of it.
  uint64_t Version(bool has_repeats) const {
    if (device_ != nullptr) return HONE_MODULE_ABI_VERSION_DEVICES;
    return has_repeats ? HONE_MODULE_ABI_VERSION_REPEATS : HONE_MODULE_ABI_VERSION;
  }

  Constant* I8(uint64_t v) { return b_.getInt8(static_cast<uint8_t>(v)); }
  Constant* I16(uint64_t v) { return b_.getInt16(static_cast<uint16_t>(v)); }
  Constant* I32(uint64_t v) { return b_.getInt32(static_cast<uint32_t>(v)); }
  Constant* I64(uint64_t v) { return b_.getInt64(v); }
  Constant* F64(double v) { return llvm::ConstantFP::get(b_.getDoubleTy(), v); }
  Constant* Struct(std::vector<Constant*> fields) {
    return ConstantStruct::getAnon(module_.getContext(), fields);
  }

  Constant* Private(Constant* data, const char* name, int align) {
    auto* global = new llvm::GlobalVariable(module_, data->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::PrivateLinkage, data, name);
    global->setAlignment(llvm::Align(align));
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return global;
  }

  Constant* Text(const std::string& text) {
    Constant*& known = texts_[text];
    if (!known) {
      known = Private(llvm::ConstantDataArray::getString(module_.getContext(), text), "text", 1);
    }
    return known;
  }

  Constant* Null() { return llvm::ConstantPointerNull::get(b_.getPtrTy()); }

  // NULL for an empty one.
  Constant* Array(const std::vector<Constant*>& elements) {
    if (elements.empty()) return Null();
    auto* type = llvm::ArrayType::get(elements[0]->getType(), elements.size());
    return Private(llvm::ConstantArray::get(type, elements), "table", 8);
  }

  Constant* Shape(const std::vector<int64_t>& shape) {
    std::vector<Constant*> extents;
    for (const int64_t extent : shape) extents.push_back(I64(extent));
    return Array(extents);
  }

  Constant* Buffer(const loop::BufferNode& buffer, bool is_read_by_run, bool spreads_rounding) {
    const bool is_transformed = spreads_rounding && buffer.role == loop::Role::kOutput;
    return Struct({Text(buffer.name), I8(static_cast<uint64_t>(buffer.role)),
                   I8(static_cast<uint64_t>(buffer.dtype)), I16(buffer.shape.size()),
                   I32((is_read_by_run ? 0 : HONE_BUFFER_NOT_READ_BY_RUN) |
                       (buffer.ascending ? HONE_BUFFER_ASCENDING : 0) |
                       (is_transformed ? HONE_BUFFER_TRANSFORMED : 0)),
                   Shape(buffer.shape), Text(buffer.layout.ToString()), I64(buffer.SizeBytes()),
                   F64(buffer.domain_low), F64(buffer.domain_high)});
  }

  Constant* Code(const std::string& symbol) {
    if (llvm::Function* function = module_.getFunction(symbol)) return function;
    auto* function = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), false),
                                            llvm::Function::ExternalLinkage, symbol, &module_);
    function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    return function;
  }

  Constant* Launch(const LaunchEntry& entry, bool flush_subnormals) {
    const lower::LoweredLaunch& launch = *entry.launch;
    const bool prepare = launch.phase == loop::Phase::kPrepare;
    return Struct({Text(launch.name), device_ != nullptr ? Null() : Code(entry.symbol),
                   I64(std::max<int64_t>(launch.GridIndices(), 1)), I64(entry.scratch_bytes),
                   I32(prepare ? HONE_PHASE_PREPARE : HONE_PHASE_RUN), I32(launch.serial),
                   I32(launch.barrier_before),
                   I32((launch.tiles.regions.empty() ? 0 : HONE_LAUNCH_TILES) |
                       (flush_subnormals && !prepare ? HONE_LAUNCH_FLUSH_SUBNORMALS : 0) |
                       (launch.waits ? HONE_LAUNCH_WAITS : 0))});
  }

  Constant* Kernel(const KernelSpec& kernel, const std::vector<LaunchEntry>& entries) {
    std::vector<Constant*> buffers;
    const auto read = loop::ReadIn(kernel.nest, loop::Phase::kRun);
    for (const loop::Buffer& buffer : kernel.nest.buffers) {
      buffers.push_back(Buffer(*buffer, read.contains(buffer.get()), kernel.spreads_rounding));
    }
    std::vector<Constant*> launches;
    for (const LaunchEntry& entry : entries) {
      launches.push_back(Launch(entry, kernel.flush_subnormals));
    }
    return Struct({Text(kernel.name), Text(kernel.workload), Text(kernel.workload_digest),
                   Text(kernel.config), Text(kernel.tier), F64(kernel.flops),
                   F64(kernel.error_bound), I32(buffers.size()), I32(launches.size()),
                   Array(buffers), Array(launches)});
  }

  Constant* Value(const ValueSpec& value) {
    uint64_t bytes = SizeBytes(value.dtype);
    for (const int64_t extent : value.shape) bytes *= extent;
    auto* reserved = llvm::ConstantAggregateZero::get(llvm::ArrayType::get(b_.getInt8Ty(), 3));
    return Struct({Text(value.name), I8(static_cast<uint64_t>(value.dtype)), reserved,
                   I32(value.shape.size()), Shape(value.shape), I64(bytes)});
  }

  Constant* Values(const std::vector<ValueSpec>& values) {
    std::vector<Constant*> entries;
    for (const ValueSpec& value : values) entries.push_back(Value(value));
    return Array(entries);
  }

  Constant* At(const Location& location) {
    return Struct({I32(location.space), I32(location.index), I64(location.offset_bytes)});
  }

  std::vector<Constant*> Repeats() {
    std::vector<Constant*> repeats;
    for (size_t f = 0; f < spec_.functions.size(); ++f) {
      for (const RepeatSpec& repeat : spec_.functions[f].repeats) {
        std::vector<Constant*> moves;
        for (const MoveSpec& move : repeat.moves) {
          moves.push_back(Struct({At(move.next), I64(static_cast<uint64_t>(move.stride_bytes)),
                                  I32(move.alternates), I32(0)}));
        }
        repeats.push_back(Struct({I32(f), I32(repeat.first_call), I32(repeat.call_count), I32(0),
                                  I64(repeat.trips), Array(moves)}));
      }
    }
    return repeats;
  }

  Constant* Call(const CallSpec& call) {
    std::vector<Constant*> locations;
    for (const Location& location : call.locations) locations.push_back(At(location));
    return Struct({I32(call.kernel), I32(call.barrier_before), Array(locations)});
  }

  Constant* Function(const FunctionSpec& function) {
    std::vector<Constant*> calls;
    for (const CallSpec& call : function.calls) calls.push_back(Call(call));
    return Struct({Text(function.name), I32(function.inputs.size()), I32(function.outputs.size()),
                   I32(calls.size()), I32(0), Values(function.inputs), Values(function.outputs),
                   Array(calls), I64(function.arena_bytes)});
  }

  std::vector<Constant*> Codes() {
    std::vector<Constant*> codes;
    if (device_ == nullptr) return codes;
    for (const DeviceCode& code : device_->codes) {
      codes.push_back(Struct(
          {I32(code.kind), I32(0), Text(code.bytes), I64(code.bytes.size()), Text(code.options)}));
    }
    return codes;
  }

  std::vector<Constant*> DeviceLaunches() {
    std::vector<Constant*> launches;
    if (device_ == nullptr) return launches;
    for (const std::vector<DeviceLaunch>& of_kernel : device_->launches) {
      for (const DeviceLaunch& launch : of_kernel) launches.push_back(Launch(launch));
    }
    return launches;
  }

  Constant* Launch(const DeviceLaunch& launch) {
    std::vector<Constant*> arguments;
    for (const uint32_t argument : launch.arguments) arguments.push_back(I32(argument));
    return Struct({Text(launch.entry), I32(launch.code), I32(arguments.size()),
                   Extents(launch.blocks), Extents(launch.threads), I64(launch.shared_bytes),
                   Array(arguments)});
  }

  Constant* Extents(const std::array<uint32_t, 3>& extents) {
    return llvm::ConstantDataArray::get(module_.getContext(), extents);
  }

  llvm::Module& module_;
  const ModuleSpec& spec_;
  const DeviceModule* device_;
  Builder b_;
  std::map<std::string, Constant*> texts_;
};

}  // namespace

void EmitTables(llvm::Module& module, const ModuleSpec& spec,
                const std::vector<std::vector<LaunchEntry>>& launches, const std::string& toolchain,
                const DeviceModule* device) {
  TableEmitter(module, spec, device).Emit(launches, toolchain);
}

}  // namespace hone::codegen
