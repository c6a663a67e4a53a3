#include "compiler/codegen/llvm/angle.h"

#include <cstdint>

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

namespace hone::codegen {
namespace {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;

constexpr char kFunctionName[] = "hone.reduce_angle";
constexpr char kTableName[] = "hone.two_over_pi";

// 2 / pi in binary behind 64 zeros, as many bits as the largest double takes.
constexpr uint64_t kTwoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

llvm::GlobalVariable* Table(llvm::Module* module) {
  if (llvm::GlobalVariable* found = module->getGlobalVariable(kTableName, true)) return found;
  llvm::Constant* words = llvm::ConstantDataArray::get(module->getContext(), kTwoOverPi);
  auto* table = new llvm::GlobalVariable(*module, words->getType(), /*isConstant=*/true,
                                         llvm::GlobalValue::PrivateLinkage, words, kTableName);
  table->setAlignment(llvm::Align(8));
  return table;
}

// Payne's and Hanek's reduction of one finite double of at least 1, in integers: |x| is m * 2^e,
// and those bits of 2 / pi that lie so high that they add whole turns to the product are left out.
class LargeAngle {
 public:
  explicit LargeAngle(llvm::Module* module) : module_(module), b_(module->getContext()) {}

  llvm::Function* Emit() {
    if (llvm::Function* found = module_->getFunction(kFunctionName)) return found;
    Type* result = llvm::StructType::get(b_.getDoubleTy(), b_.getInt64Ty());
    auto* type = llvm::FunctionType::get(result, {b_.getDoubleTy()}, false);
    auto* f = llvm::Function::Create(type, llvm::Function::InternalLinkage, kFunctionName, module_);
    f->setDoesNotThrow();
    b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", f));
    Value* x = f->getArg(0);
    Value* bits = b_.CreateBitCast(x, b_.getInt64Ty());
    Value* negative = b_.CreateICmpSLT(bits, b_.getInt64(0));
    Value* turn = TurnOf(bits);
    // To the nearest quadrant: a fraction from a half on belongs to the next.
    Value* fraction = b_.CreateShl(turn, 2);  // a signed one of 128 bits
    Value* high = High(fraction);
    Value* quadrant = b_.CreateAdd(b_.CreateLShr(High(turn), 62), b_.CreateLShr(high, 63));
    Value* rest = b_.CreateFMul(AsDouble(fraction), Num(0x1.921fb54442d18p+0));
    rest = b_.CreateSelect(negative, b_.CreateFNeg(rest), rest);
    quadrant = b_.CreateSelect(negative, b_.CreateNeg(quadrant), quadrant);
    rest = b_.CreateSelect(b_.CreateFCmpUNO(b_.CreateFSub(x, x), Num(0)), Nan(), rest);
    Value* both = b_.CreateInsertValue(llvm::PoisonValue::get(result), rest, 0);
    b_.CreateRet(b_.CreateInsertValue(both, quadrant, 1));
    return f;
  }

 private:
  // |x| * 2 / pi modulo 4, as 128 bits of which the first two are whole.
  Value* TurnOf(Value* bits) {
    Value* biased = b_.CreateAnd(b_.CreateLShr(bits, 52), 0x7FF);
    Value* mantissa = b_.CreateOr(b_.CreateAnd(bits, (uint64_t{1} << 52) - 1), uint64_t{1} << 52);
    // e is biased - 1075; of bits behind the point the one at e - 1 is the first that counts, and
    // 64 zeros stand before. Arguments below 1 are none of this function's, but stay in the table.
    Value* first = b_.CreateBinaryIntrinsic(
        llvm::Intrinsic::smax, b_.CreateSub(biased, b_.getInt64(1075 - 62)), b_.getInt64(0));
    Value* word = b_.CreateLShr(first, 6);
    Value* shift = b_.CreateAnd(first, 63);
    Value* loaded[4];
    for (int i = 0; i < 4; ++i) loaded[i] = Word(b_.CreateAdd(word, b_.getInt64(i)));
    const auto window = [&](int i) {
      return b_.CreateIntrinsic(llvm::Intrinsic::fshl, {b_.getInt64Ty()},
                                {loaded[i], loaded[i + 1], shift});
    };
    Value* low = Product(mantissa, window(2));
    Value* middle = b_.CreateAdd(Product(mantissa, window(1)), b_.CreateLShr(low, 64));
    Value* high = b_.CreateAdd(b_.CreateMul(mantissa, window(0)), High(middle));
    return b_.CreateOr(b_.CreateShl(Wide(high), 64), Wide(b_.CreateTrunc(middle, b_.getInt64Ty())));
  }

  Value* Word(Value* index) {
    llvm::GlobalVariable* table = Table(module_);
    return b_.CreateLoad(b_.getInt64Ty(), b_.CreateInBoundsGEP(b_.getInt64Ty(), table, {index}));
  }

  // A signed fraction of 128 bits, of which the first 53 that say something count.
  Value* AsDouble(Value* fraction) {
    Value* negative = b_.CreateICmpSLT(High(fraction), b_.getInt64(0));
    Value* magnitude = b_.CreateSelect(negative, b_.CreateNeg(fraction), fraction);
    Value* zeros = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, High(magnitude), b_.getFalse());
    // No double is nearer to a quadrant than 2^-62 of one.
    zeros = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, zeros, b_.getInt64(63));
    Value* first = b_.CreateLShr(High(b_.CreateShl(magnitude, Wide(zeros))), 1);
    Value* number = b_.CreateSIToFP(first, b_.getDoubleTy());
    Value* exponent = b_.CreateShl(b_.CreateSub(b_.getInt64(1023 - 63), zeros), 52);
    Value* value = b_.CreateFMul(number, b_.CreateBitCast(exponent, b_.getDoubleTy()));
    return b_.CreateSelect(negative, b_.CreateFNeg(value), value);
  }

  Value* Wide(Value* x) { return b_.CreateZExt(x, b_.getInt128Ty()); }
  Value* High(Value* x) { return b_.CreateTrunc(b_.CreateLShr(x, 64), b_.getInt64Ty()); }
  Value* Product(Value* x, Value* y) { return b_.CreateMul(Wide(x), Wide(y)); }
  Value* Num(double value) { return ConstantFP::get(b_.getDoubleTy(), value); }
  Value* Nan() { return ConstantFP::getNaN(b_.getDoubleTy()); }

  llvm::Module* module_;
  Builder b_;
};

// Lane by lane; of those that are not large the values mean nothing.
ReducedAngle ReduceLarge(Builder& b, Value* x) {
  llvm::Function* f = LargeAngle(b.GetInsertBlock()->getModule()).Emit();
  const int lanes = LanesOf(x);
  if (lanes == 1) {
    Value* both = b.CreateCall(f, {x});
    return {b.CreateExtractValue(both, 0), b.CreateExtractValue(both, 1)};
  }
  ReducedAngle angle = {llvm::PoisonValue::get(x->getType()),
                        llvm::PoisonValue::get(WithElements(x->getType(), b.getInt64Ty()))};
  for (int i = 0; i < lanes; ++i) {
    Value* both = b.CreateCall(f, {b.CreateExtractElement(x, i)});
    angle.rest = b.CreateInsertElement(angle.rest, b.CreateExtractValue(both, 0), i);
    angle.quadrant = b.CreateInsertElement(angle.quadrant, b.CreateExtractValue(both, 1), i);
  }
  return angle;
}

// By pi / 2 in three parts, the first two of 33 bits: the first difference is exact, and the others
// are rounded in the last place of a rest that they leave nearly as it is.
ReducedAngle ReduceSmall(Builder& b, Value* x) {
  Type* type = x->getType();
  const auto num = [&](double value) { return ConstantFP::get(type, value); };
  const auto fma = [&](Value* p, Value* q, Value* r) {
    return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type}, {p, q, r});
  };
  // Adding 1.5 2^52 rounds to a whole number and leaves it in the low bits.
  Value* t = fma(x, num(0x1.45f306dc9c883p-1), num(0x1.8p52));
  Value* n = b.CreateFSub(t, num(0x1.8p52));
  Value* near = fma(n, num(-0x1.921fb54400000p+0), x);
  Value* rest = fma(n, num(-0x1.0b4611a600000p-34), near);
  rest = fma(n, num(-0x1.3198a2e037073p-69), rest);
  rest = b.CreateSelect(b.CreateFCmpOEQ(n, num(0)), x, rest);  // with its sign where it is zero
  return {rest, b.CreateBitCast(t, WithElements(type, b.getInt64Ty()))};
}

}  // namespace

ReducedAngle ReduceAngle(Builder& b, Value* x, const TargetTraits& traits) {
  // Products of the parts of pi with more quadrants are not exact without fused multiply-adds.
  const double largest = traits.fuses ? 0x1p40 : 0x1p20;
  // Lanes that nobody asks for may hold poison, which nothing may branch on.
  x = b.CreateFreeze(x);
  const ReducedAngle small = ReduceSmall(b, x);
  Value* is_large = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x),
                                    ConstantFP::get(x->getType(), largest));
  Value* any = LanesOf(x) > 1 ? b.CreateOrReduce(is_large) : is_large;
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::Function* function = before->getParent();
  auto* large_block = llvm::BasicBlock::Create(b.getContext(), "large_angle", function);
  auto* done = llvm::BasicBlock::Create(b.getContext(), "angle_done", function);
  b.CreateCondBr(any, large_block, done);
  b.SetInsertPoint(large_block);
  const ReducedAngle large = ReduceLarge(b, x);
  Value* rest = b.CreateSelect(is_large, large.rest, small.rest);
  Value* quadrant = b.CreateSelect(is_large, large.quadrant, small.quadrant);
  b.CreateBr(done);
  b.SetInsertPoint(done);
  const auto join = [&](Value* from_small, Value* from_large) {
    llvm::PHINode* phi = b.CreatePHI(from_small->getType(), 2);
    phi->addIncoming(from_small, before);
    phi->addIncoming(from_large, large_block);
    return phi;
  };
  return {join(small.rest, rest), join(small.quadrant, quadrant)};
}

}  // namespace hone::codegen
