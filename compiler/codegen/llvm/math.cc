#include "compiler/codegen/llvm/math.h"

#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

#include "compiler/codegen/llvm/angle.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace hone::codegen {
namespace {

using llvm::Type;
using llvm::Value;
using llvm::Intrinsic::ID;

// Polynomials interpolate at Chebyshev nodes of the interval named; lowest power first.

// (e^r - 1 - r) / r^2, |r| <= ln(2) / 2.
constexpr double kExpFloat[] = {0.5, 0.1666657338, 0.04166655011, 0.008363773874, 0.001392692661};
// 2^r, |r| <= 1 / 2: least relative error of those that are 1 at 0.
constexpr double kPower2Float[] = {1,           0.693147004,    0.240222424,
                                   0.055507336, 0.009671512991, 0.001326472731};
constexpr double kExpDouble[] = {0.5,
                                 0.1666666666666667144,
                                 0.04166666666666667007,
                                 0.0083333333333255447,
                                 0.001388888888888332667,
                                 0.0001984126987686435493,
                                 0.00002480158732700718673,
                                 2.755725283351690975e-6,
                                 2.755727181021979957e-7,
                                 2.510627473357329469e-8,
                                 2.091544229778011522e-9};
// (2 atanh(s) - 2 s) / s^3 in s^2, for arguments of log in [sqrt(1/2), sqrt(2)].
constexpr double kLogFloat[] = {0.6666666655, 0.4000012559, 0.2855039696, 0.2334194339};
constexpr double kLogDouble[] = {
    0.6666666666666666645, 0.4000000000000094127, 0.2857142857076445012, 0.222222224005477573,
    0.1818179470089779959, 0.1538629053465899199, 0.132674185964748834,  0.131007213835034914};
// erf(x) / x in x^2, |x| <= 1.
constexpr double kErfSmallDouble[] = {
    1.128379167095512574,     -0.3761263890318375238,     0.1128379167095512024,
    -0.02686617064512984081,  0.005223977625423298309,    -0.0008548327021934829596,
    0.0001205533290288873541, -0.00001492564756751933213, 1.646204544146841894e-6,
    -1.63646421581676153e-7,  1.4792401209404813e-8,      -1.216456005728345008e-9,
    8.70904512905310669e-11,  -4.230945824295337817e-12};
// -ln(erfc(x)) / x, 0 <= x <= 4: least error of erf, which it is relative to.
constexpr double kErfFloat[] = {1.128379207,     0.6366164968,   0.1028144104,     -0.01932171493,
                                0.0002057142022, 0.001251748215, -0.0003810013035, 4.07080316e-05};
// exp(x^2) erfc(x) in (x - 3) / (x + 3), 1 <= x <= 6.
constexpr double kErfLargeDouble[] = {
    0.1790011511813899504,     -0.3262335600430372284,    0.2456038017123308793,
    -0.1501159365007771931,    0.07166583719797824927,    -0.02439249931867416255,
    0.004269136332839603374,   0.0007077464390642495781,  -0.0005970619486467925222,
    0.00004525529407340588535, 0.00006405655742070628208, -0.00001286042120576811808,
    -7.978119429438598504e-6,  2.11927901289259656e-6,    1.251923372232226381e-6,
    -2.902501917746964571e-7,  -2.295919632170404073e-7,  2.099099490307882265e-8,
    3.0975338712854803e-8};
// (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 in r^2, |r| <= pi / 4.
constexpr double kSin[] = {-0.1666666666666666667,    0.008333333333333331379,
                           -0.0001984126984126482162, 2.755731921915078158e-6,
                           -2.505210616733570639e-8,  1.605852134995498633e-10,
                           -7.586094789672620073e-13};
constexpr double kCos[] = {0.04166666666666666667,    -0.00138888888888888878,
                           0.00002480158730158451114, -2.755731922129808697e-7,
                           2.087675575487959641e-9,   -1.147045517821690658e-11,
                           4.745537017319258366e-14};
// (atan(t) - t) / t^3 in t^2, |t| <= tan(pi / 8).
constexpr double kAtan[] = {
    -0.3333333333333333333,  0.1999999999999999145,   -0.142857142857114906,
    0.1111111111075148104,   -0.09090909066816080901, 0.076923067291948968,
    -0.06666641869131182673, 0.05881923056114022562,  -0.05258020272656758341,
    0.04719259188242092395,  -0.04103887546862687257, 0.03062299555373551607,
    -0.01390537453311323531};

// Emits for one floating-point type.
class Math {
 public:
  Math(Builder& b, Type* type, const TargetTraits& traits = {})
      : b_(b),
        type_(type),
        is_double_(type->getScalarType()->isDoubleTy()),
        scales_(traits.avx512_dq && !is_double_ && LanesOf(type) == 16),
        ints_(WithElements(type, is_double_ ? b.getInt64Ty() : b.getInt32Ty())),
        mantissa_(is_double_ ? 52 : 23),
        bias_(is_double_ ? 1023 : 127) {}

  Value* Exp(Value* x) {
    if (scales_) return ExpByPower2(x, nullptr);
    const Reduced y = Reduce(Clamp(x, is_double_ ? -746 : -104, is_double_ ? 710 : 89));
    Value* value = b_.CreateFAdd(Num(1), y.expm1);
    // In two steps, since 2^n alone may be out of range where the result is not.
    Value* half = b_.CreateAShr(y.n, 1);
    value = b_.CreateFMul(value, Power2(half));
    return b_.CreateFMul(value, Power2(b_.CreateSub(y.n, half)));
  }

  Value* ExpAbove(Value* x, double least) {
    if (scales_) return ExpByPower2(x, b_.CreateFCmpUGE(x, Num(least)));
    const Reduced y = Reduce(Clamp(x, least, is_double_ ? 710 : 89));
    // Half of 2^n is in range wherever the result is.
    Value* twice = Fma(Num(2), y.expm1, Num(2));
    Value* value = b_.CreateFMul(twice, Power2(b_.CreateSub(y.n, Int(1))));
    return b_.CreateSelect(b_.CreateFCmpOLT(x, Num(least)), Num(0), value);
  }

  Value* Expm1(Value* x) {
    const Reduced y = Reduce(Clamp(x, is_double_ ? -38 : -18, is_double_ ? 710 : 89));
    // Half of it first, since 2^n alone may be out of range where the result is not.
    Value* power = Power2(b_.CreateSub(y.n, Int(1)));
    Value* half = Fma(y.expm1, power, b_.CreateFSub(power, Num(0.5)));
    return b_.CreateSelect(IsTiny(x), x, b_.CreateFAdd(half, half));
  }

  // e^x - 1 of arguments that overflow no power of two and are not so tiny as to lose their sign.
  Value* ExpMinus1InRange(Value* x) {
    const Reduced y = Reduce(x);
    Value* power = Power2(y.n);
    return Fma(y.expm1, power, b_.CreateFSub(power, Num(1)));
  }

  Value* Log(Value* x) {
    const double tiny = is_double_ ? 0x1p-1022 : 0x1p-126;
    Value* subnormal = b_.CreateFCmpOLT(x, Num(tiny));
    Value* scaled = b_.CreateSelect(subnormal, b_.CreateFMul(x, Num(0x1p54)), x);
    const Scaled y = Split(scaled);
    Value* e = b_.CreateSub(y.exponent, b_.CreateSelect(subnormal, Int(54), Int(0)));
    Value* result = LogOfReduced(b_.CreateFSub(y.mantissa, Num(1)), e);
    result = b_.CreateSelect(b_.CreateFCmpOEQ(x, Num(0)), Negative(Infinity()), result);
    result = b_.CreateSelect(b_.CreateFCmpOLT(x, Num(0)), NaN(), result);
    return b_.CreateSelect(b_.CreateFCmpUEQ(x, Infinity()), x, result);
  }

  // log(1 + x): what the sum loses is added to its mantissa less 1, where there is room for it.
  Value* Log1p(Value* x) {
    Value* sum = b_.CreateFAdd(Num(1), x);
    Value* lost = b_.CreateFSub(x, b_.CreateFSub(sum, Num(1)));
    const Scaled y = Split(sum);
    // Beyond this exponent nothing that is lost matters, nor is its power of two always a number.
    Value* shift = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, y.exponent, Int(100));
    Value* f = Fma(lost, Power2(b_.CreateNeg(shift)), b_.CreateFSub(y.mantissa, Num(1)));
    Value* result = LogOfReduced(f, y.exponent);
    result = b_.CreateSelect(b_.CreateFCmpOEQ(x, Num(-1)), Negative(Infinity()), result);
    result = b_.CreateSelect(b_.CreateFCmpOLT(x, Num(-1)), NaN(), result);
    result = b_.CreateSelect(b_.CreateFCmpUEQ(x, Infinity()), x, result);
    return b_.CreateSelect(IsTiny(x), x, result);
  }

  Value* Tanh(Value* x) {
    Value* magnitude = ClampAbove(Abs(x), is_double_ ? 22 : 10);
    Value* em1 = ExpMinus1InRange(b_.CreateFAdd(magnitude, magnitude));
    return CopySign(b_.CreateFDiv(em1, b_.CreateFAdd(em1, Num(2))), x);
  }

  Value* Sigmoid(Value* x) {
    Value* e = Exp(Negative(Abs(x)));
    Value* numerator = b_.CreateSelect(b_.CreateFCmpOLT(x, Num(0)), e, Num(1));
    return b_.CreateFDiv(numerator, b_.CreateFAdd(Num(1), e));
  }

  Value* Erf(Value* x) {
    Value* magnitude = Abs(x);
    if (!is_double_) {
      Value* a = ClampAbove(magnitude, 4);
      return CopySign(ExpMinus1InRange(b_.CreateFMul(Negative(a), Poly(a, kErfFloat))), x);
    }
    Value* square = b_.CreateFMul(x, x);
    Value* small = b_.CreateFMul(x, Poly(square, kErfSmallDouble));
    Value* a = ClampAbove(magnitude, 6);
    Value* t = b_.CreateFDiv(b_.CreateFSub(a, Num(3)), b_.CreateFAdd(a, Num(3)));
    Value* complement = b_.CreateFMul(Exp(Negative(b_.CreateFMul(a, a))), Poly(t, kErfLargeDouble));
    Value* large = CopySign(b_.CreateFSub(Num(1), complement), x);
    return b_.CreateSelect(b_.CreateFCmpOLT(magnitude, Num(1)), small, large);
  }

  // sin(angle + quarter * pi / 2).
  Value* Sine(const ReducedAngle& angle, int quarter) {
    Value* r = angle.rest;
    Value* z = b_.CreateFMul(r, r);
    Value* sine = CopySign(Fma(b_.CreateFMul(r, z), Poly(z, kSin), r), r);
    Value* cosine = Fma(b_.CreateFMul(z, z), Poly(z, kCos), Fma(z, Num(-0.5), Num(1)));
    Value* quadrant = b_.CreateAdd(angle.quadrant, Int(quarter));
    Value* odd = b_.CreateICmpNE(b_.CreateAnd(quadrant, Int(1)), Int(0));
    Value* value = b_.CreateSelect(odd, cosine, sine);
    Value* lower = b_.CreateICmpNE(b_.CreateAnd(quadrant, Int(2)), Int(0));
    return b_.CreateSelect(lower, Negative(value), value);
  }

  Value* Atan(Value* x) {
    constexpr double kPi = 3.14159265358979323846;
    Value* magnitude = Abs(x);
    Value* outside = b_.CreateFCmpOGT(magnitude, Num(1));
    Value* a = b_.CreateSelect(outside, b_.CreateFDiv(Num(1), magnitude), magnitude);
    Value* upper = b_.CreateFCmpOGT(a, Num(0.41421356237309503));
    Value* turned = b_.CreateFDiv(b_.CreateFSub(a, Num(1)), b_.CreateFAdd(a, Num(1)));
    Value* t = b_.CreateSelect(upper, turned, a);
    Value* z = b_.CreateFMul(t, t);
    Value* angle = Fma(b_.CreateFMul(t, z), Poly(z, kAtan), t);
    angle = b_.CreateFAdd(angle, b_.CreateSelect(upper, Num(kPi / 4), Num(0)));
    angle = b_.CreateSelect(outside, b_.CreateFSub(Num(kPi / 2), angle), angle);
    return CopySign(angle, x);
  }

  Value* Asin(Value* x) {
    Value* cosine = Sqrt(b_.CreateFMul(b_.CreateFSub(Num(1), x), b_.CreateFAdd(Num(1), x)));
    return Atan(b_.CreateFDiv(x, cosine));
  }

  Value* Acos(Value* x) {
    Value* ratio = b_.CreateFDiv(b_.CreateFSub(Num(1), x), b_.CreateFAdd(Num(1), x));
    return b_.CreateFMul(Num(2), Atan(Sqrt(ratio)));
  }

  Value* Sinh(Value* x) {
    Value* em1 = ExpMinus1InRange(ClampAbove(Abs(x), 709));
    Value* sum = b_.CreateFAdd(em1, b_.CreateFDiv(em1, b_.CreateFAdd(em1, Num(1))));
    Value* result = b_.CreateFMul(Num(0.5), sum);
    result = b_.CreateSelect(b_.CreateFCmpOGT(Abs(x), Num(709)), HalfOfBigExp(Abs(x)), result);
    return CopySign(result, x);
  }

  Value* Cosh(Value* x) {
    Value* e = Exp(Abs(x));
    Value* result = b_.CreateFMul(Num(0.5), b_.CreateFAdd(e, b_.CreateFDiv(Num(1), e)));
    return b_.CreateSelect(b_.CreateFCmpOGT(Abs(x), Num(709)), HalfOfBigExp(Abs(x)), result);
  }

  Value* Asinh(Value* x) {
    Value* a = Abs(x);
    Value* square = b_.CreateFMul(a, a);
    Value* root = Sqrt(b_.CreateFAdd(square, Num(1)));
    Value* result = Log1p(b_.CreateFAdd(a, b_.CreateFDiv(square, b_.CreateFAdd(Num(1), root))));
    // The square overflows long before the result does.
    Value* big = b_.CreateFAdd(Log(a), Num(0.69314718055994530942));
    return CopySign(b_.CreateSelect(b_.CreateFCmpOGT(a, Num(1e100)), big, result), x);
  }

  Value* Acosh(Value* x) {
    Value* t = b_.CreateFSub(x, Num(1));
    Value* result = Log1p(b_.CreateFAdd(t, Sqrt(b_.CreateFMul(t, b_.CreateFAdd(t, Num(2))))));
    Value* big = b_.CreateFAdd(Log(x), Num(0.69314718055994530942));
    result = b_.CreateSelect(b_.CreateFCmpOGT(x, Num(1e100)), big, result);
    return b_.CreateSelect(b_.CreateFCmpOLT(x, Num(1)), NaN(), result);
  }

  Value* Atanh(Value* x) {
    Value* a = Abs(x);
    Value* ratio = b_.CreateFDiv(b_.CreateFAdd(a, a), b_.CreateFSub(Num(1), a));
    return CopySign(b_.CreateFMul(Num(0.5), Log1p(ratio)), x);
  }

  Value* Pow(Value* x, Value* y) {
    Value* power = Exp(b_.CreateFMul(y, Log(Abs(x))));
    Value* half = b_.CreateFMul(y, Num(0.5));
    Value* whole = b_.CreateFCmpOEQ(Rint(y), y);
    Value* odd = b_.CreateAnd(whole, b_.CreateFCmpUNE(Rint(half), half));
    // Zeros and infinities have powers that are not whole; -0 has a sign.
    Value* negative = b_.CreateFCmpOLT(CopySign(Num(1), x), Num(0));
    power = b_.CreateSelect(b_.CreateAnd(negative, odd), Negative(power), power);
    Value* finite =
        b_.CreateAnd(b_.CreateFCmpOLT(x, Num(0)), b_.CreateFCmpOGT(x, Negative(Infinity())));
    power = b_.CreateSelect(b_.CreateAnd(finite, b_.CreateNot(whole)), NaN(), power);
    Value* one = b_.CreateOr(b_.CreateFCmpOEQ(y, Num(0)), b_.CreateFCmpOEQ(x, Num(1)));
    Value* turns = b_.CreateAnd(b_.CreateFCmpOEQ(x, Num(-1)), b_.CreateFCmpOEQ(Abs(y), Infinity()));
    return b_.CreateSelect(b_.CreateOr(one, turns), Num(1), power);
  }

  // `of_floats`: both have no more than the bits of floats. `fuses`: so do the multiplications of
  // Fma with its additions.
  Value* Fmod(Value* x, Value* y, bool of_floats, bool fuses) {
    // Lanes that nobody asks for may hold poison, which nothing may branch on.
    Value* a = Abs(b_.CreateFreeze(x));
    Value* m = Abs(b_.CreateFreeze(y));
    // Once, but for quotients of more bits than a number has: what each turn leaves is exact.
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::Function* function = before->getParent();
    auto* turn = llvm::BasicBlock::Create(b_.getContext(), "mod", function);
    auto* done = llvm::BasicBlock::Create(b_.getContext(), "mod_done", function);
    b_.CreateBr(turn);
    b_.SetInsertPoint(turn);
    llvm::PHINode* rest = b_.CreatePHI(type_, 2);
    rest->addIncoming(a, before);
    Value* step = m;
    Value* quotient = WholeQuotient(rest, &step, of_floats);
    Value* r = of_floats || fuses ? Fma(Negative(quotient), step, rest)
                                  : WithoutMultiple(rest, FirstBits(quotient, 26), step);
    rest->addIncoming(r, turn);
    Value* more = b_.CreateFCmpOGE(Abs(r), m);
    if (LanesOf(more) > 1) more = b_.CreateOrReduce(more);
    b_.CreateCondBr(more, turn, done);
    b_.SetInsertPoint(done);
    // The quotient may have been rounded across a whole number.
    r = b_.CreateSelect(b_.CreateFCmpOLT(r, Num(0)), b_.CreateFAdd(r, m), r);
    Value* plain = b_.CreateAnd(b_.CreateFCmpOEQ(m, Infinity()), b_.CreateFCmpONE(a, Infinity()));
    return CopySign(b_.CreateSelect(plain, a, r), x);
  }

  Value* Num(double value) { return llvm::ConstantFP::get(type_, value); }

 private:
  struct Reduced {
    Value* n;      // integer
    Value* expm1;  // e^r - 1 for x = n ln(2) + r
  };

  // The whole quotient a / m, so rounded that what it leaves of `a` is exact; `m` becomes a
  // multiple of itself where the quotient would be infinite.
  Value* WholeQuotient(Value* a, Value** m, bool of_floats) {
    Value* quotient = b_.CreateFDiv(a, *m);
    if (of_floats) {
      // Without fused multiply-adds too: 29 bits by the 24 of a float.
      return FirstBits(b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, quotient), 29);
    }
    for (const double multiple : {0x1p1022, 0x1p54}) {
      Value* is_large = b_.CreateFCmpOEQ(Abs(quotient), Infinity());
      *m = b_.CreateSelect(is_large, b_.CreateFMul(*m, Num(multiple)), *m);
      quotient = b_.CreateFDiv(a, *m);
    }
    return b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, quotient);
  }

  // The first `count` of a double's 53 bits.
  Value* FirstBits(Value* x, int count) {
    Value* bits = b_.CreateAnd(b_.CreateBitCast(x, ints_), Int(-(int64_t{1} << (53 - count))));
    return b_.CreateBitCast(bits, type_);
  }

  // a - quotient * m, exact: of a quotient of 26 bits the products with the halves of m are, and so
  // is what each leaves.
  Value* WithoutMultiple(Value* a, Value* quotient, Value* m) {
    Value* high = FirstBits(m, 26);
    Value* low = b_.CreateFSub(m, high);
    Value* rest = b_.CreateFSub(a, b_.CreateFMul(quotient, high));
    return b_.CreateFSub(rest, b_.CreateFMul(quotient, low));
  }

  Value* Int(int64_t value) { return llvm::ConstantInt::get(ints_, value, true); }
  Value* Infinity() { return llvm::ConstantFP::getInfinity(type_); }
  Value* NaN() { return llvm::ConstantFP::getNaN(type_); }
  Value* Negative(Value* x) { return b_.CreateFNeg(x); }
  Value* Abs(Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  Value* Sqrt(Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x); }
  Value* Rint(Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::rint, x); }
  Value* CopySign(Value* x, Value* sign) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, sign);
  }
  Value* Fma(Value* x, Value* y, Value* z) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type_}, {x, y, z});
  }
  // True where a function that is x + c x^2 + ... rounds to x: there it keeps its zero's sign, too.
  Value* IsTiny(Value* x) { return b_.CreateFCmpOLT(Abs(x), Num(is_double_ ? 0x1p-54 : 0x1p-25)); }
  // NaN stays NaN.
  Value* ClampAbove(Value* x, double high) {
    return b_.CreateSelect(b_.CreateFCmpOGT(x, Num(high)), Num(high), x);
  }
  Value* Clamp(Value* x, double low, double high) {
    return ClampAbove(b_.CreateSelect(b_.CreateFCmpOLT(x, Num(low)), Num(low), x), high);
  }
  Value* Poly(Value* x, std::span<const double> coefficients) {
    Value* sum = Num(coefficients.back());
    for (size_t i = coefficients.size() - 1; i-- > 0;) sum = Fma(sum, x, Num(coefficients[i]));
    return sum;
  }
  // 2^n for n in the range of normal exponents.
  Value* Power2(Value* n) {
    return b_.CreateBitCast(b_.CreateShl(b_.CreateAdd(n, Int(bias_)), mantissa_), type_);
  }

  // AVX-512's way: 2^n 2^r for x log2(e) = n + r. The instruction that scales knows what lies out
  // of range, whatever the finite number it scales: so r is clamped, not x, and takes along its
  // NaN. Zero where `wanted`, if there is one, is false.
  Value* ExpByPower2(Value* x, Value* wanted) {
    constexpr int kRoundAsIs = 4;
    constexpr int kLessMagnitude = 2;  // of both, with the sign of the first
    Value* all = b_.getInt16(-1);
    Value* nothing = llvm::PoisonValue::get(type_);
    const double magic = 0x1.8p23;
    Value* n = b_.CreateFSub(Fma(x, Num(0x1.715476p+0), Num(magic)), Num(magic));
    Value* r = Fma(x, Num(0x1.715476p+0), Negative(n));
    r = Fma(x, Num(0x1.4ae0cp-26), r);
    r = b_.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_range_ps_512, {},
        {r, Num(0.51), b_.getInt32(kLessMagnitude), nothing, all, b_.getInt32(kRoundAsIs)});
    Value* mask = wanted == nullptr ? all : b_.CreateBitCast(wanted, b_.getInt16Ty());
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                              {Poly(r, kPower2Float), n, wanted == nullptr ? nothing : Num(0), mask,
                               b_.getInt32(kRoundAsIs)});
  }

  Reduced Reduce(Value* x) {
    // Adding 1.5 2^mantissa rounds to a whole number and leaves it in the low bits, also of NaN,
    // where a conversion to integer would be undefined.
    const double magic = is_double_ ? 0x1.8p52 : 0x1.8p23;
    Value* t = Fma(x, Num(1.44269504088896340736), Num(magic));
    Value* whole = b_.CreateFSub(t, Num(magic));
    Value* n = b_.CreateSub(b_.CreateBitCast(t, ints_), b_.CreateBitCast(Num(magic), ints_));
    Value* r = Fma(whole, Num(is_double_ ? -0x1.62e42fefa2000p-1 : -0x1.62e4p-1), x);
    r = Fma(whole, Num(is_double_ ? -0x1.9ef35793c7673p-41 : -0x1.7f7d1cf79abcap-20), r);
    Value* square = b_.CreateFMul(r, r);
    Value* tail = is_double_ ? Poly(r, kExpDouble) : Poly(r, kExpFloat);
    return {n, Fma(square, tail, r)};
  }

  // x = mantissa 2^exponent with a mantissa in [sqrt(1/2), sqrt(2)), of normal numbers above 0.
  struct Scaled {
    Value* mantissa;
    Value* exponent;  // integer
  };
  Scaled Split(Value* x) {
    Value* bits = b_.CreateBitCast(x, ints_);
    const int64_t sqrt_half = is_double_ ? 0x3FE6A09E667F3BCD : 0x3F3504F3;
    Value* e = b_.CreateAShr(b_.CreateSub(bits, Int(sqrt_half)), mantissa_);
    return {b_.CreateBitCast(b_.CreateSub(bits, b_.CreateShl(e, mantissa_)), type_), e};
  }

  // log((1 + f) 2^e).
  Value* LogOfReduced(Value* f, Value* e) {
    Value* exponent = b_.CreateSIToFP(e, type_);
    Value* s = b_.CreateFDiv(f, b_.CreateFAdd(f, Num(2)));
    Value* z = b_.CreateFMul(s, s);
    Value* rest = b_.CreateFMul(z, is_double_ ? Poly(z, kLogDouble) : Poly(z, kLogFloat));
    Value* half_square = b_.CreateFMul(b_.CreateFMul(Num(0.5), f), f);
    // The low part of e ln(2) and the small terms first.
    Value* low =
        b_.CreateFMul(exponent, Num(is_double_ ? 0x1.9ef35793c7673p-41 : 0x1.7f7d1cf79abcap-20));
    Value* small = Fma(s, b_.CreateFAdd(half_square, rest), low);
    Value* sum = b_.CreateFSub(b_.CreateFSub(half_square, small), f);
    Value* high = Num(is_double_ ? 0x1.62e42fefa2000p-1 : 0x1.62e4p-1);
    return Fma(exponent, high, Negative(sum));
  }

  // e^x / 2 where e^x overflows and its half may not.
  Value* HalfOfBigExp(Value* x) {
    Value* root = Exp(b_.CreateFMul(Num(0.5), x));
    return b_.CreateFMul(b_.CreateFMul(Num(0.5), root), root);
  }

  Builder& b_;
  Type* type_;
  bool is_double_;
  bool scales_;  // by powers of two in one instruction, which rounds once
  Type* ints_;
  int mantissa_;
  int bias_;
};

Value* InDouble(Builder& b, loop::UnaryOp op, Value* x, const TargetTraits& traits) {
  Math m(b, x->getType());
  switch (op) {
    case loop::UnaryOp::kSin:
      return m.Sine(ReduceAngle(b, x, traits), 0);
    case loop::UnaryOp::kCos:
      return m.Sine(ReduceAngle(b, x, traits), 1);
    case loop::UnaryOp::kTan: {
      const ReducedAngle angle = ReduceAngle(b, x, traits);
      return b.CreateFDiv(m.Sine(angle, 0), m.Sine(angle, 1));
    }
    case loop::UnaryOp::kAsin:
      return m.Asin(x);
    case loop::UnaryOp::kAcos:
      return m.Acos(x);
    case loop::UnaryOp::kAtan:
      return m.Atan(x);
    case loop::UnaryOp::kSinh:
      return m.Sinh(x);
    case loop::UnaryOp::kCosh:
      return m.Cosh(x);
    case loop::UnaryOp::kAsinh:
      return m.Asinh(x);
    case loop::UnaryOp::kAcosh:
      return m.Acosh(x);
    case loop::UnaryOp::kAtanh:
      return m.Atanh(x);
    default:
      llvm_unreachable("not an elementary function");
  }
}

// Where AVX-512 has instructions for exp, the last vector of a row takes them as a whole one does.
Value* InWholeVector(Builder& b, Value* x, const TargetTraits& traits,
                     const std::function<Value*(Value* x)>& exp) {
  constexpr int kWidest = 16;
  const int lanes = LanesOf(x);
  if (!traits.avx512_dq || !x->getType()->getScalarType()->isFloatTy() || lanes == 1 ||
      lanes >= kWidest) {
    return exp(x);
  }
  std::vector<int> places(kWidest, llvm::PoisonMaskElem);
  std::iota(places.begin(), places.begin() + lanes, 0);
  // Frozen: the mask of all lanes is one number.
  Value* whole = exp(b.CreateFreeze(b.CreateShuffleVector(x, places)));
  places.resize(static_cast<size_t>(lanes));
  return b.CreateShuffleVector(whole, places);
}

}  // namespace

llvm::Value* EmitMath(Builder& b, loop::UnaryOp op, llvm::Value* x, const TargetTraits& traits) {
  Math m(b, x->getType(), traits);
  switch (op) {
    case loop::UnaryOp::kExp:
      return InWholeVector(
          b, x, traits, [&](Value* whole) { return Math(b, whole->getType(), traits).Exp(whole); });
    case loop::UnaryOp::kExpm1:
      return m.Expm1(x);
    case loop::UnaryOp::kLog:
      return m.Log(x);
    case loop::UnaryOp::kLog1p:
      return m.Log1p(x);
    case loop::UnaryOp::kTanh:
      return m.Tanh(x);
    case loop::UnaryOp::kErf:
      return m.Erf(x);
    case loop::UnaryOp::kSigmoid:
      return m.Sigmoid(x);
    default: {
      // The rare ones are computed in double, which makes the float result right to an ulp.
      Value* wide = b.CreateFPCast(x, WithElements(x->getType(), b.getDoubleTy()));
      return b.CreateFPCast(InDouble(b, op, wide, traits), x->getType());
    }
  }
}

llvm::Value* EmitExpAbove(Builder& b, llvm::Value* x, double least, const TargetTraits& traits) {
  return InWholeVector(b, x, traits, [&](Value* whole) {
    return Math(b, whole->getType(), traits).ExpAbove(whole, least);
  });
}

bool MayBeLeastOfExp(double least, DataType dtype) {
  if (dtype != DataType::kFloat32 && dtype != DataType::kFloat64) return false;
  // Half of the power of two that `least` is rounded to is a normal number; it has itself been
  // rounded to the type.
  const double exponent = dtype == DataType::kFloat32 ? -125.25 : -1021.25;
  return least >= exponent * std::numbers::ln2 && least <= 0;
}

llvm::Value* EmitPow(Builder& b, llvm::Value* x, llvm::Value* y) {
  Type* wide = WithElements(x->getType(), b.getDoubleTy());
  Value* power = Math(b, wide).Pow(b.CreateFPCast(x, wide), b.CreateFPCast(y, wide));
  return b.CreateFPCast(power, x->getType());
}

llvm::Value* EmitFmod(Builder& b, llvm::Value* x, llvm::Value* y, const TargetTraits& traits) {
  Type* wide = WithElements(x->getType(), b.getDoubleTy());
  const bool of_floats = x->getType() != wide;
  Value* r =
      Math(b, wide).Fmod(b.CreateFPCast(x, wide), b.CreateFPCast(y, wide), of_floats, traits.fuses);
  return b.CreateFPCast(r, x->getType());
}

}  // namespace hone::codegen
