// Loads and stores of a launch.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>

#include "compiler/codegen/llvm/launch_emitter.h"
#include "llvm/IR/Intrinsics.h"
#include "runtime/module_abi.h"

namespace hone::codegen {
namespace {

using llvm::Value;
using loop::Interval;

// The greatest stride at which loads of every stride-th element become whole vectors and shuffles.
constexpr int64_t kMostStride = 4;

// What the number is surely a multiple of, in elements.
int64_t KnownDivisor(const Index& offset, int lane_atom) {
  int64_t divisor = offset.constant;
  for (const Index::Term& term : offset.terms) {
    if (term.atom != lane_atom) divisor = std::gcd(divisor, term.coefficient);
  }
  return divisor;
}

llvm::Align AlignOf(int64_t divisor, int64_t element_bytes) {
  const int64_t bytes =
      std::gcd(divisor * element_bytes, static_cast<int64_t>(HONE_BUFFER_ALIGNMENT));
  return llvm::Align(std::max<int64_t>(bytes, 1));
}

}  // namespace

LaunchEmitter::Storage LaunchEmitter::Storage::Of(const loop::BufferNode& buffer, int copies) {
  Storage storage;
  storage.extents = buffer.layout.PhysicalShape(buffer.shape);
  storage.elements = buffer.layout.ElementCount(buffer.shape) * copies;
  storage.copies = copies;
  return storage;
}

const LaunchEmitter::Storage* LaunchEmitter::FindStorage(const loop::Buffer& buffer) {
  const auto found = storage_.find(buffer.get());
  if (found != storage_.end()) return &found->second;
  Fail(fmt::format("nest {}: the buffer {} is neither in the table nor allocated around its use",
                   nest_.name, buffer->name));
  return nullptr;
}

// The layout's index map, as Layout::Offset has it.
std::optional<Index> LaunchEmitter::OffsetOf(const loop::Buffer& buffer,
                                             const std::vector<loop::Expr>& indices,
                                             const Storage& storage, bool speculative) {
  const Layout& layout = buffer->layout;
  if (static_cast<int>(indices.size()) != layout.rank()) {
    Fail(fmt::format("nest {}: {} has {} axes, accessed with {} indices", nest_.name, buffer->name,
                     layout.rank(), indices.size()));
    return std::nullopt;
  }
  absl::InlinedVector<Index, 6> logical;
  for (const loop::Expr& index : indices) {
    std::optional<Index> value = IndexOf(index, speculative);
    if (!value) return std::nullopt;
    logical.push_back(*std::move(value));
  }
  const std::vector<int64_t>& extents = storage.extents;
  const std::vector<Layout::Dim>& dims = layout.dims();
  // The product of the blocks further in.
  absl::InlinedVector<int64_t, 6> inner(static_cast<size_t>(layout.rank()), 1);
  Index offset;
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    const int axis = dims[i].axis;
    Index position = index_.FloorDiv(logical[axis], inner[axis]);
    if (dims[i].factor != 0) {
      position = index_.FloorMod(position, dims[i].factor);
      inner[axis] *= dims[i].factor;
    }
    offset = IndexMath::Sum(offset, position, stride);
    stride *= extents[i];
  }
  offset = index_.Recombined(std::move(offset));
  if (storage.copies == 1) return offset;
  return IndexMath::Sum(IndexMath::Scaled(offset, storage.copies),
                        Index{0, {{vector_.lane_atom, 1}}});
}

bool LaunchEmitter::InBounds(const Index& offset, const Storage& storage) const {
  const Interval range = index_.RangeOf(offset);
  return range.min >= 0 && range.max < storage.elements;
}

LaunchEmitter::Address LaunchEmitter::Locate(const loop::Buffer& buffer,
                                             const std::vector<loop::Expr>& indices) {
  Address address;
  const Storage* storage = FindStorage(buffer);
  if (!storage) return address;
  std::optional<Index> offset = OffsetOf(buffer, indices, *storage, /*speculative=*/false);
  if (!offset) return address;
  address.storage = storage;
  address.element = MemoryType(context_, buffer->dtype);
  address.in_bounds = InBounds(*offset, *storage);
  const int bytes = SizeBytes(buffer->dtype);
  if (vector_.lanes > 1 && vector_.lane_atom >= 0) {
    address.stride = offset->CoefficientOf(vector_.lane_atom);
  }
  const Index first = WithoutLanes(*offset, address.stride);
  if (storage->is_swizzled) {
    LocateSwizzled(first, address);
    return address;
  }
  if (index_.IsVector(first)) {
    address.reach = Reach::kScattered;
    address.offsets = index_.Emit(*offset);
    address.align = llvm::Align(bytes);
    if (storage->copies == 1) LocatePlaces(*offset, address);
    return address;
  }
  address.reach = address.stride == 0 ? Reach::kUniform : Reach::kRamp;
  address.align = AlignOf(KnownDivisor(first, -1), bytes);
  // The constant goes last, where it becomes part of the instruction.
  Index variable = first;
  variable.constant = 0;
  address.pointer = storage->base;
  if (Value* pointer = SteppedPointer(*storage, address.element, variable)) {
    address.pointer = pointer;
  } else if (!variable.IsConstant()) {
    address.pointer = b_.CreateGEP(address.element, address.pointer, index_.Emit(variable));
  }
  if (first.constant != 0) {
    address.pointer = b_.CreateConstGEP1_64(address.element, address.pointer, first.constant);
  }
  return address;
}

// Elements of a chunk of 16 bytes stay side by side; the chunk moves within its row.
void LaunchEmitter::LocateSwizzled(const Index& first, Address& address) {
  constexpr int64_t kChunk = 8;      // elements of two bytes
  constexpr uint64_t kRowShift = 3;  // brings a row's number, from bit 6 on, to the chunk's bits
  constexpr uint64_t kChunkBits = 7 * kChunk;
  const int64_t divisor = KnownDivisor(first, -1);
  const int64_t neighbours = address.stride == 0 ? 1 : vector_.lanes;
  if (index_.IsVector(first) || address.stride > 1 || address.stride < 0 ||
      kChunk % neighbours != 0 || divisor % neighbours != 0) {
    Fail(fmt::format("nest {}: expected neighbours within {} elements in swizzled memory",
                     nest_.name, kChunk));
    return;
  }
  Value* const offset = index_.Emit(first);
  Value* const row = b_.CreateAnd(b_.CreateLShr(offset, kRowShift), kChunkBits);
  address.reach = address.stride == 0 ? Reach::kUniform : Reach::kRamp;
  address.align = std::min(AlignOf(divisor, 2), llvm::Align(2 * kChunk));
  address.pointer = b_.CreateGEP(address.element, address.storage->base, b_.CreateXor(offset, row));
}

// An operand in memory may be a pointer and a scaled index on x86. Intel's cores then take the load
// and the multiplication apart, which fills their window of instructions twice as fast: a register
// tile looks half as far ahead for what the first cache lacks. A pointer of each stream's own costs
// an addition.
llvm::Value* LaunchEmitter::SteppedPointer(const Storage& storage, llvm::Type* element,
                                           const Index& offset) {
  constexpr size_t kMostPointers = 8;  // of 16 general registers
  constexpr int64_t kPage = 4096;  // what reads one at each step was a little slower by pointers
  if (stepped_ == nullptr || storage.is_private || offset.IsConstant()) return nullptr;
  if (offset.terms.back().atom != stepped_->atom) return nullptr;
  const int64_t step = offset.terms.back().coefficient;
  const auto bytes = static_cast<int64_t>(element->getPrimitiveSizeInBits() / 8);
  if (std::abs(step) * bytes >= kPage) return nullptr;
  std::vector<SteppedLoop::Pointer>& pointers = stepped_->pointers;
  const auto known = std::ranges::find_if(pointers, [&](const SteppedLoop::Pointer& p) {
    return p.base == storage.base && p.terms == offset.terms;
  });
  if (known != pointers.end()) return known->value;
  if (pointers.size() >= kMostPointers) return nullptr;
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  Index start = offset;
  start.terms.pop_back();
  start = IndexMath::Sum(start, stepped_->first, step);
  b_.SetInsertPoint(stepped_->before->getTerminator());
  Value* distance = index_.EmitInScopes(start, stepped_->outer_scopes);
  Value* first = b_.CreateGEP(element, storage.base, distance);
  b_.SetInsertPoint(stepped_->body, stepped_->body->begin());
  llvm::PHINode* value = b_.CreatePHI(b_.getPtrTy(), 2);
  value->addIncoming(first, stepped_->before);
  pointers.push_back({storage.base, element, offset.terms, value});
  return value;
}

// At the end of the loop's body.
void LaunchEmitter::StepPointers(const SteppedLoop& loop) {
  for (const SteppedLoop::Pointer& p : loop.pointers) {
    const int64_t step = p.terms.back().coefficient;
    Value* next = b_.CreateGEP(p.element, p.value, b_.getInt64(static_cast<uint64_t>(step)));
    p.value->addIncoming(next, b_.GetInsertBlock());
  }
}

// The width of whole vectors where the part that all lanes share counts in such; where these could
// leave the buffer, that of halves, quarters and so on.
int LaunchEmitter::WidthOfPermuted(const std::vector<int64_t>& lanes, const Storage& storage,
                                   Index& first) const {
  const auto [low, high] = std::minmax_element(lanes.begin(), lanes.end());
  const int64_t shared = KnownDivisor(first, -1);
  for (int width = vector_.lanes; width > 1; width /= 2) {
    const bool whole = shared % width == 0;
    first.constant = *low;
    if (whole) first.constant -= (*low % width + width) % width;
    Index last = first;
    last.constant += width - 1;
    if (*high > last.constant) return 0;
    // One that starts at a multiple of its size lies in the buffer if one of its elements does.
    const bool beside_lane = whole && !vector_.mask && storage.elements % width == 0;
    if (beside_lane || (InBounds(first, storage) && InBounds(last, storage))) return width;
  }
  return 0;
}

void LaunchEmitter::LocatePlaces(const Index& offset, Address& address) {
  Index first;
  const std::vector<int64_t> lanes = index_.LaneConstants(offset, vector_.lanes, first);
  if (lanes.empty()) return;
  address.width = WidthOfPermuted(lanes, *address.storage, first);
  if (address.width > 0) {
    address.reach = Reach::kPermuted;
    address.align = AlignOf(KnownDivisor(first, -1), address.element->getPrimitiveSizeInBits() / 8);
  } else {
    constexpr int64_t kFar = int64_t{1} << 30;
    const bool pairs = std::has_single_bit(lanes.size());
    const bool known = !vector_.mask || llvm::isa<llvm::ConstantDataVector>(vector_.mask) ||
                       llvm::isa<llvm::ConstantVector>(vector_.mask);
    first.constant = lanes[0];
    const bool near = std::all_of(lanes.begin(), lanes.end(), [&](int64_t lane) {
      return std::abs(lane - first.constant) < kFar;
    });
    if (!pairs || !known || !near) return;
    address.reach = Reach::kPieces;
  }
  address.pointer = b_.CreateGEP(address.element, address.storage->base, index_.Emit(first));
  for (int64_t lane : lanes) address.places.push_back(static_cast<int>(lane - first.constant));
}

llvm::Instruction* LaunchEmitter::Annotate(llvm::Instruction* access, const Storage& storage,
                                           bool is_load) {
  if (storage.scope) {
    access->setMetadata(llvm::LLVMContext::MD_alias_scope, storage.scope);
    access->setMetadata(llvm::LLVMContext::MD_noalias, storage.no_alias);
  }
  if (is_load && storage.is_constant) {
    access->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  }
  return access;
}

llvm::Value* LaunchEmitter::EmitLoad(const loop::Expr& e) {
  if (const auto found = transposed_.find(e.get()); found != transposed_.end()) {
    const auto row = static_cast<size_t>(transposed_row_);
    return FromMemory(b_, found->second[row], e->dtype, traits_);
  }
  const Address address = Locate(e->buffer, e->operands);
  if (!address.storage) {
    return llvm::Constant::getNullValue(RegisterType(context_, e->dtype));
  }
  return FromMemory(b_, LoadStored(address), e->dtype, traits_);
}

// As it is in memory.
llvm::Value* LaunchEmitter::LoadStored(const Address& address) {
  switch (address.reach) {
    case Reach::kUniform:
      return LoadUniform(address);
    case Reach::kRamp:
      return LoadRamp(address);
    case Reach::kPermuted:
      return LoadPermuted(address);
    case Reach::kPieces:
      return LoadPieces(address, 0, address.places.size());
    case Reach::kScattered:
      return LoadScattered(address);
  }
  return nullptr;
}

// One element for all lanes. It is read where any lane needs it.
llvm::Value* LaunchEmitter::LoadUniform(const Address& address) {
  const auto load = [&] {
    return Annotate(b_.CreateAlignedLoad(address.element, address.pointer, address.align),
                    *address.storage, true);
  };
  if (!vector_.mask || address.in_bounds) return load();
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* read = NewBlock("read");
  llvm::BasicBlock* join = NewBlock("join");
  b_.CreateCondBr(b_.CreateOrReduce(vector_.mask), read, join);
  before = b_.GetInsertBlock();
  b_.SetInsertPoint(read);
  Value* value = load();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  llvm::PHINode* result = b_.CreatePHI(address.element, 2);
  result->addIncoming(llvm::Constant::getNullValue(address.element), before);
  result->addIncoming(value, read);
  return result;
}

llvm::Value* LaunchEmitter::LoadRamp(const Address& address) {
  if (address.stride != 1) {
    const bool strides = address.stride > 1 && address.stride <= kMostStride;
    const bool masked = vector_.mask && !address.in_bounds;
    return strides && !masked ? LoadStrided(address) : LoadScattered(address);
  }
  llvm::Type* type = Widen(address.element, vector_.lanes);
  llvm::Instruction* load = nullptr;
  if (vector_.mask && !address.in_bounds) {
    load = b_.CreateMaskedLoad(type, address.pointer, address.align, vector_.mask,
                               llvm::Constant::getNullValue(type));
  } else {
    load = b_.CreateAlignedLoad(type, address.pointer, address.align);
  }
  return Annotate(load, *address.storage, true);
}

// Vectors of all that lies between the first and the last lane; the last one ends with it.
llvm::Value* LaunchEmitter::LoadStrided(const Address& address) {
  const int lanes = vector_.lanes;
  const auto stride = static_cast<int>(address.stride);
  const int last = (lanes - 1) * stride;
  llvm::Type* type = Widen(address.element, lanes);
  const llvm::Align align = AlignOfElement(address.element);
  Value* result = nullptr;
  for (int part = 0; part < stride; ++part) {
    const int start = std::min(part * lanes, last + 1 - lanes);
    Value* pointer = b_.CreateConstGEP1_64(address.element, address.pointer, start);
    Value* vector = Annotate(b_.CreateAlignedLoad(type, pointer, part == 0 ? address.align : align),
                             *address.storage, true);
    std::vector<int> places(static_cast<size_t>(lanes));
    for (int lane = 0; lane < lanes; ++lane) {
      const int at = lane * stride - start;
      const bool here = lane * stride >= part * lanes && lane * stride < (part + 1) * lanes;
      places[static_cast<size_t>(lane)] = here ? (result ? lanes : 0) + at : result ? lane : -1;
    }
    result = result ? b_.CreateShuffleVector(result, vector, places)
                    : b_.CreateShuffleVector(vector, places);
  }
  return result;
}

llvm::Value* LaunchEmitter::LoadPermuted(const Address& address) {
  llvm::Instruction* load =
      b_.CreateAlignedLoad(Widen(address.element, address.width), address.pointer, address.align);
  return b_.CreateShuffleVector(Annotate(load, *address.storage, true), address.places);
}

// Neighbours come in together, and pieces of vectors are joined two by two: pairs are cheap to join
// to quarters of a vector, and these to a vector. Lanes that the mask leaves out are zero.
llvm::Value* LaunchEmitter::LoadPieces(const Address& address, size_t lane, size_t count) {
  const auto is_on = [&](size_t i) {
    const auto* mask = llvm::dyn_cast_or_null<llvm::Constant>(vector_.mask);
    return mask == nullptr || !mask->getAggregateElement(static_cast<unsigned>(i))->isNullValue();
  };
  bool none = true, all = true, neighbours = true;
  for (size_t i = lane; i < lane + count; ++i) {
    none = none && !is_on(i);
    all = all && is_on(i);
    neighbours = neighbours && address.places[i] - address.places[lane] ==
                                   static_cast<int>(i) - static_cast<int>(lane);
  }
  llvm::Type* type = Widen(address.element, static_cast<int>(count));
  if (none) return llvm::Constant::getNullValue(type);
  if (all && neighbours) {
    Value* pointer = b_.CreateConstGEP1_64(address.element, address.pointer, address.places[lane]);
    const llvm::Align align = AlignOfElement(address.element);
    return Annotate(b_.CreateAlignedLoad(type, pointer, align), *address.storage, true);
  }
  const size_t half = count / 2;
  Value* low = LoadPieces(address, lane, half);
  Value* high = LoadPieces(address, lane + half, half);
  if (half == 1) {  // of two single elements
    Value* pair = b_.CreateInsertElement(llvm::PoisonValue::get(type), low, uint64_t{0});
    return b_.CreateInsertElement(pair, high, uint64_t{1});
  }
  std::vector<int> both(count);
  std::iota(both.begin(), both.end(), 0);
  return b_.CreateShuffleVector(low, high, both);
}

llvm::Value* LaunchEmitter::LanePointers(const Address& address) {
  if (address.reach != Reach::kRamp) {
    return b_.CreateGEP(address.element, address.storage->base, address.offsets);
  }
  std::vector<llvm::Constant*> steps;
  for (int i = 0; i < vector_.lanes; ++i) steps.push_back(b_.getInt64(i * address.stride));
  return b_.CreateGEP(address.element, address.pointer, llvm::ConstantVector::get(steps));
}

llvm::Value* LaunchEmitter::LoadScattered(const Address& address) {
  llvm::Type* type = Widen(address.element, vector_.lanes);
  const llvm::Align align = AlignOfElement(address.element);
  const bool masked = vector_.mask && !address.in_bounds;
  // By the machine's instruction where LLVM finds that fast, else elements one by one. Private
  // buffers may yet become registers.
  const bool gathers = address.reach == Reach::kScattered && !address.storage->is_private &&
                       address.element->getScalarSizeInBits() >= 32;
  if (masked || gathers) {
    Value* mask =
        masked ? vector_.mask : llvm::ConstantInt::getTrue(Widen(b_.getInt1Ty(), vector_.lanes));
    return Annotate(b_.CreateMaskedGather(type, LanePointers(address), align, mask,
                                          llvm::Constant::getNullValue(type)),
                    *address.storage, true);
  }
  Value* result = llvm::PoisonValue::get(type);
  for (int i = 0; i < vector_.lanes; ++i) {
    Value* pointer =
        address.reach == Reach::kRamp
            ? b_.CreateConstGEP1_64(address.element, address.pointer, i * address.stride)
            : b_.CreateGEP(address.element, address.storage->base,
                           b_.CreateExtractElement(address.offsets, i));
    Value* element =
        Annotate(b_.CreateAlignedLoad(address.element, pointer, align), *address.storage, true);
    result = b_.CreateInsertElement(result, element, i);
  }
  return result;
}

// `masks_pads`: the mask leaves out pad lanes and nothing else.
void LaunchEmitter::StoreLanes(const Address& address, Value* value, bool masks_pads) {
  if (vector_.lanes == 1) {
    Annotate(b_.CreateAlignedStore(value, address.pointer, address.align), *address.storage, false);
    return;
  }
  value = Splat(b_, value, vector_.lanes);
  if (address.reach == Reach::kRamp && address.stride == 1) {
    return StoreRamp(address, value, masks_pads);
  }
  // In the order of the lanes.
  Value* mask = vector_.mask ? vector_.mask
                             : llvm::ConstantInt::getTrue(Widen(b_.getInt1Ty(), vector_.lanes));
  const llvm::Align align = AlignOfElement(address.element);
  Value* pointers = address.reach == Reach::kUniform ? Splat(b_, address.pointer, vector_.lanes)
                                                     : LanePointers(address);
  Annotate(b_.CreateMaskedScatter(value, pointers, align, mask), *address.storage, false);
}

void LaunchEmitter::StoreRamp(const Address& address, Value* value, bool masks_pads) {
  llvm::Type* type = value->getType();
  if (vector_.mask && address.storage->is_private && address.in_bounds) {
    // Nobody sees the other lanes, and a plain store lets the buffer become registers.
    if (!masks_pads || !address.storage->pads_free) {
      Value* old = b_.CreateAlignedLoad(type, address.pointer, address.align);
      value = b_.CreateSelect(vector_.mask, value, old);
    }
    b_.CreateAlignedStore(value, address.pointer, address.align);
    return;
  }
  llvm::Instruction* store = vector_.mask
                                 ? static_cast<llvm::Instruction*>(b_.CreateMaskedStore(
                                       value, address.pointer, address.align, vector_.mask))
                                 : b_.CreateAlignedStore(value, address.pointer, address.align);
  Annotate(store, *address.storage, false);
}

}  // namespace hone::codegen
