// Products of four warps in tensor cores (PTX ISA, "wgmma"). LLVM has no intrinsics for them.
// Each thread holds those sums that it holds as one of a warp (launch_warp.cc).
#include <fmt/format.h>

#include <string>
#include <vector>

#include "compiler/codegen/llvm/launch_emitter.h"
#include "compiler/machine/tensor_cores.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hone::codegen {
namespace {

using llvm::Value;
using machine::kWarpgroupProduct;
using machine::kWarpProduct;

constexpr uint64_t kElementBytes = 2;
// The fields of a descriptor but for the address (PTX ISA, "Matrix Descriptor"), for a matrix whose
// rows of 128 bytes are swizzled. The offset along the leading dimension is 1, which is ignored;
// eight rows are 1024 bytes, in units of 16, before the next eight; the swizzle is that of 128
// bytes.
constexpr uint64_t kSwizzledMatrix =
    (uint64_t{1} << 16) | (uint64_t{64} << 32) | (uint64_t{1} << 62);
constexpr uint64_t kAddressBits = 0x3ffff;
constexpr uint64_t kAddressUnit = 16;  // bytes

// Numbers of operands, "$3, $4", or of registers.
std::string Numbered(const std::string& name, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{}{}{}", i > 0 ? ", " : "", name, i);
  return text;
}

// Registers of PTX for sums of products that are under way. LLVM knows nothing of them, so it
// neither reads nor moves them meanwhile.
constexpr char kSumRegister[] = "%hone_sum";

llvm::CallInst* CallConvergent(Builder& b, llvm::FunctionType* type, const std::string& text,
                               const std::string& constraints, const std::vector<Value*>& values) {
  llvm::CallInst* const call = b.CreateCall(
      type, llvm::InlineAsm::get(type, text, constraints, /*hasSideEffects=*/true), values);
  call->setConvergent();
  call->setDoesNotThrow();
  return call;
}

}  // namespace

// What threads have written to shared memory, or copied there, is for instructions of warpgroups to
// read behind the barrier that follows.
void LaunchEmitter::EmitWarpgroupFence() {
  if (launch_->warpgroups.products.empty()) return;
  CallConvergent(b_, llvm::FunctionType::get(b_.getVoidTy(), false),
                 "fence.proxy.async.shared::cta;", "~{memory}", {});
}

std::vector<Value*> LaunchEmitter::DescriptorsOf(const lower::WarpgroupProduct& product,
                                                 const loop::Expr& load) {
  const loop::TileOperation& tile = product.tile;
  BindTile(tile, IndexMath::Constant(0), IndexMath::Constant(0), IndexMath::Constant(0));
  const Storage* const storage = FindStorage(load->buffer);
  if (storage == nullptr) return {};
  const std::optional<Index> offset =
      OffsetOf(load->buffer, load->operands, *storage, /*speculative=*/false);
  if (!offset) return {};
  Value* const pointer = b_.CreateGEP(b_.getInt16Ty(), storage->base, index_.Emit(*offset));
  Value* const address = b_.CreateAnd(b_.CreatePtrToInt(pointer, b_.getInt64Ty()), kAddressBits);
  Value* const first =
      b_.CreateOr(b_.CreateUDiv(address, b_.getInt64(kAddressUnit)), b_.getInt64(kSwizzledMatrix));
  std::vector<Value*> descriptors;
  for (int64_t term = 0; term < tile.steps * tile.dot; term += kWarpProduct.terms) {
    const uint64_t bytes = static_cast<uint64_t>(term) * kElementBytes;
    descriptors.push_back(b_.CreateAdd(first, b_.getInt64(bytes / kAddressUnit)));
  }
  return descriptors;
}

std::vector<Value*> LaunchEmitter::SumsOf(const lower::WarpgroupProduct& product) {
  const loop::TileOperation& tile = product.tile;
  std::vector<Value*> places;
  for (int64_t lane = 0; lane < product.lanes; lane += kWarpProduct.lanes) {
    if (product.tiles != nullptr) {
      vars_[product.tiles->var.get()] = IndexMath::Constant(lane / tile.lanes);
    }
    for (Value* const sum : WarpSumsAt(tile, lane % tile.lanes)) places.push_back(sum);
  }
  return places;
}

void LaunchEmitter::EmitLateProducts(const loop::Stmt& s, const lower::WarpgroupProduct& product) {
  const std::vector<Value*> places = SumsOf(product);
  if (!status_.ok()) return;
  BeginStatement();
  llvm::Type* const nothing = b_.getVoidTy();
  if (!has_sum_registers_) {
    // The entry is the first block in the text, too, and is there once.
    Builder entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
    CallConvergent(entry, llvm::FunctionType::get(nothing, false),
                   fmt::format(".reg .f32 {}<{}>;", kSumRegister,
                               kWarpgroupProduct.rows * kWarpgroupProduct.most_lanes /
                                   kWarpgroupProduct.threads),
                   "~{memory}", {});
    has_sum_registers_ = true;
  }
  llvm::Type* const sum = b_.getFloatTy();
  std::vector<Value*> values;
  std::string moves, inputs;
  for (size_t i = 0; i < places.size(); ++i) {
    values.push_back(b_.CreateLoad(sum, places[i]));
    moves += fmt::format("mov.f32 {}{}, ${};\n", kSumRegister, i, i);
    inputs += "f,";
  }
  const std::vector<llvm::Type*> types(places.size(), sum);
  CallConvergent(b_, llvm::FunctionType::get(nothing, types, false), moves, inputs + "~{memory}",
                 values);
  EmitFor(s);
  std::string text = "wgmma.wait_group.sync.aligned 0;\n", outputs;
  for (size_t i = 0; i < places.size(); ++i) {
    text += fmt::format("mov.f32 ${}, {}{};\n", i, kSumRegister, i);
    outputs += "=f,";
  }
  Value* const results =
      CallConvergent(b_, llvm::FunctionType::get(llvm::StructType::get(context_, types), false),
                     text, outputs + "~{memory}", {});
  for (unsigned i = 0; i < places.size(); ++i) {
    b_.CreateStore(b_.CreateExtractValue(results, i), places[i]);
  }
}

// One piece of assembly from the fence to the wait: nothing can touch the sums between. The wait of
// late products is for those of the step before.
void LaunchEmitter::EmitWarpgroupProduct(const lower::WarpgroupProduct& product) {
  const loop::TileOperation& tile = product.tile;
  const auto bind = [&](const loop::Stmt& loop, int64_t value) {
    vars_[loop->var.get()] = IndexMath::Constant(value);
  };
  // The numbers of the group's threads begin there.
  Index& thread = vars_[launch_->thread->var.get()];
  const Index own = thread;
  Value* const number = b_.CreateZExt(
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {}), b_.getInt64Ty());
  const auto in_group = static_cast<uint64_t>(kWarpgroupProduct.threads) - 1;
  thread = index_.Of(b_.CreateAnd(number, ~in_group),
                     {0, launch_->thread->extent - kWarpgroupProduct.threads});
  std::vector<Value*> left, right;
  int64_t parts = 1;
  for (const loop::Stmt& part : product.parts) parts *= index_.RangeOf(*IndexOf(part->extent)).max;
  if (product.tiles != nullptr) bind(product.tiles, 0);
  for (int64_t part = 0; part < parts && status_.ok(); ++part) {
    int64_t rest = part;
    for (size_t i = product.parts.size(); i-- > 0;) {
      const int64_t extent = index_.RangeOf(*IndexOf(product.parts[i]->extent)).max;
      bind(product.parts[i], rest % extent);
      rest /= extent;
    }
    for (Value* const of_left : DescriptorsOf(product, tile.left.load)) left.push_back(of_left);
    for (Value* const of_right : DescriptorsOf(product, tile.right.load)) right.push_back(of_right);
  }
  vars_[launch_->thread->var.get()] = own;
  BeginStatement();
  if (!status_.ok()) return;

  const size_t sums = static_cast<size_t>(product.lanes / kWarpProduct.lanes) * 4;
  const size_t operands = product.is_late ? 0 : sums;  // that are sums
  const char* const type = tile.left.load->dtype == DataType::kBFloat16 ? "bf16" : "f16";
  std::string text = "wgmma.fence.sync.aligned;\n";
  std::string outputs, inputs, tied;
  std::vector<Value*> values;
  for (size_t step = 0; step < left.size(); ++step) {
    text += fmt::format(
        "wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{1}.{1} {{{2}}}, ${3}, ${4}, 1, 1, 1, 0, 0;\n",
        product.lanes, type, Numbered(product.is_late ? kSumRegister : "$", sums),
        operands + 2 * step, operands + 2 * step + 1);
    inputs += "l,l,";
    values.push_back(left[step]);
    values.push_back(right[step]);
  }
  text += fmt::format("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned {};",
                      product.is_late ? 1 : 0);
  const std::vector<Value*> places = product.is_late ? std::vector<Value*>() : SumsOf(product);
  for (size_t i = 0; i < places.size(); ++i) {
    outputs += "=f,";
    tied += fmt::format("{},", i);
    values.push_back(b_.CreateLoad(b_.getFloatTy(), places[i]));
  }
  std::vector<llvm::Type*> types;
  for (Value* const value : values) types.push_back(value->getType());
  const std::vector<llvm::Type*> made(places.size(), b_.getFloatTy());
  llvm::Type* const result = product.is_late
                                 ? b_.getVoidTy()
                                 : static_cast<llvm::Type*>(llvm::StructType::get(context_, made));
  llvm::FunctionType* const function = llvm::FunctionType::get(result, types, false);
  Value* const results =
      CallConvergent(b_, function, text, outputs + inputs + tied + "~{memory}", values);
  for (unsigned i = 0; i < places.size(); ++i) {
    b_.CreateStore(b_.CreateExtractValue(results, i), places[i]);
  }
}

}  // namespace hone::codegen
