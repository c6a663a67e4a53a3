#include "compiler/codegen/llvm/rounding.h"

#include <vector>

#include "compiler/codegen/llvm/values.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace hone::codegen {
namespace {

using llvm::ConstantFP;
using llvm::Value;

bool IsRounding(const llvm::IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::ceil:
    case llvm::Intrinsic::trunc:
    case llvm::Intrinsic::rint:
      return true;
    default:
      return false;
  }
}

// To nearest of |x|: from 2^23 on (a double's 2^52) there is no room for a fraction.
Value* NearestOf(Builder& b, Value* magnitude, Value* no_fraction) {
  return b.CreateFSub(b.CreateFAdd(magnitude, no_fraction), no_fraction);
}

Value* Expanded(Builder& b, llvm::Intrinsic::ID rounding, Value* x) {
  Value* one = ConstantFP::get(x->getType(), 1);
  Value* no_fraction =
      ConstantFP::get(x->getType(), x->getType()->getScalarType()->isFloatTy() ? 0x1p23 : 0x1p52);
  Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* whole = NearestOf(b, magnitude, no_fraction);
  if (rounding == llvm::Intrinsic::trunc) {
    whole = b.CreateSelect(b.CreateFCmpOGT(whole, magnitude), b.CreateFSub(whole, one), whole);
  }
  whole = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, whole, x);
  if (rounding == llvm::Intrinsic::floor) {
    whole = b.CreateSelect(b.CreateFCmpOGT(whole, x), b.CreateFSub(whole, one), whole);
  }
  if (rounding == llvm::Intrinsic::ceil) {
    whole = b.CreateSelect(b.CreateFCmpOLT(whole, x), b.CreateFAdd(whole, one), whole);
    whole = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, whole, x);  // -0.5 to -0
  }
  // What is whole already, infinite or no number, stays as it is.
  return b.CreateSelect(b.CreateFCmpOLT(magnitude, no_fraction), whole, x);
}

}  // namespace

void ExpandRoundings(llvm::Module& module) {
  std::vector<llvm::IntrinsicInst*> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call != nullptr && IsRounding(*call)) calls.push_back(call);
    }
  }
  for (llvm::IntrinsicInst* call : calls) {
    Builder b(call);
    call->replaceAllUsesWith(Expanded(b, call->getIntrinsicID(), call->getArgOperand(0)));
    call->eraseFromParent();
  }
}

}  // namespace hone::codegen
