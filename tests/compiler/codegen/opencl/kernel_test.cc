// The text of kernels, and what is said of launching them.
#include "compiler/codegen/opencl/kernel.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/codegen/opencl/c_text.h"
#include "compiler/codegen/opencl/names.h"
#include "compiler/loop/parser.h"
#include "gmock/gmock.h"
#include "tests/compiler/codegen/opencl/same_results.h"
#include "tests/paths.h"

namespace hone::codegen::opencl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

loop::Nest Parsed(const std::string& text) {
  absl::StatusOr<loop::Nest> nest = loop::ParseNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status() << "\n" << text;
  return nest.ok() ? *std::move(nest) : loop::Nest();
}

// HONE_UPDATE_GOLDEN=1 writes the file anew. Where there is a device, the same text without
// contraction gives the bits of the interpreter.
void ExpectGolden(const std::string& name, const std::string& nest_text) {
  const loop::Nest nest = Parsed(nest_text);
  const std::string text = ProgramText(KernelsOf(nest), KernelOptions());
  std::string why;
  if (FindOpenClDevice(&why) != nullptr) {
    ExpectOpenClSameAsInterpreter(nest, 0, {.contract = false});
  }
  const std::string path = HONE_SOURCE_DIR "/tests/compiler/codegen/opencl/golden/" + name + ".cl";
  if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << "HONE_UPDATE_GOLDEN=1 writes " << path;
}

TEST(OpenClText, OfAPreparedProduct) {
  ExpectGolden("product", R"(nest @k {
input %a: float32[4, 8] NC
constant %w: float32[8, 8] NC
prepared %p: float32[8, 8] NC
workspace %s: float32[4, 8] NC
output %c: float32[4, 8] NC
prepare @pack {parallel k in 0..8 {for n in 0..8 {%p[k, n] = %w[n, k]}}}
run @sums {
  parallel m in 0..4 {
    vectorize n in 0..8 {
      %s[m, n] = 0.0
      for k in 0..8 {%s[m, n] = %s[m, n] + %a[m, k] * %p[k, n]}
    }
  }
}
run @relu {
  parallel m in 0..4 {
    parallel j in 0..2 {vectorize n in 0..4 {%c[m, j * 4 + n] = max(%s[m, j * 4 + n], 0.0)}}
  }
}
})");
}

TEST(OpenClText, OfATileOfRegisters) {
  ExpectGolden("tile", R"(nest @k {
input %x: float32[1, 5, 9, 9] NCHW
constant %w: float32[8, 5, 3, 3] NCHW
output %y: float32[1, 8, 9, 9] NCHW4c
run @conv {
  parallel o in 0..2 {
    parallel h in 0..9 {
      alloc register %acc: float32[9, 4] NC {
        unroll i in 0..9 {unroll v in 0..4 {%acc[i, v] = 0.0}}
        for c in 0..5 {
          for r in 0..3 {
            for s in 0..3 {
              unroll i in 0..9 {
                unroll v in 0..4 {
                  %acc[i, v] = %acc[i, v] + select(h + r - 1 >= 0 and h + r - 1 < 9 and
                    i + s - 1 >= 0 and i + s - 1 < 9, %x[0, c, h + r - 1, i + s - 1], 0.0) *
                    %w[o * 4 + v, c, r, s]
                }
              }
            }
          }
        }
        for i in 0..9 {vectorize v in 0..4 {%y[0, o * 4 + v, h, i] = %acc[i, v]}}
      }
    }
  }
}
})");
}

TEST(OpenClText, OfNarrowTypes) {
  ExpectGolden("narrow", R"(nest @k {
input %a: int8[4, 8] NC
input %b: uint8[4, 8] NC
input %h: float16[4, 8] NC
input %g: bfloat16[4, 8] NC
output %sum: int32[4] C
output %s: int8[4, 8] NC
output %mean: float16[4, 8] NC
output %wide: bfloat16[4, 8] NC
run @rows {
  parallel m in 0..4 {
    %sum[m] = int32(0)
    for k in 0..2 {
      dot d in 0..4 {
        %sum[m] = %sum[m] + cast<int32>(%a[m, k * 4 + d]) * cast<int32>(%b[m, k * 4 + d])
      }
    }
    for n in 0..8 {
      %s[m, n] = %a[m, n] + int8(3)
      %mean[m, n] = (%h[m, n] + cast<float16>(%g[m, n])) * float16(0.5)
      %wide[m, n] = cast<bfloat16>(%sum[m])
    }
  }
}
})");
}

TEST(OpenClText, OfIndicesOfData) {
  ExpectGolden("gather", R"(nest @k {
input %x: float32[33, 8] NC
input %i: int64[16] C
input %n: int32[16] C domain [0, 8]
output %y: float32[16, 8] NC
output %last: int64[16] C
run @rows {
  parallel r in 0..16 {
    for c in 0..cast<int64>(%n[r]) {
      %y[r, c] = select(%i[r] >= 0 and %i[r] < 33, %x[%i[r], c] * %x[%i[r], c], 0.0)
    }
    for c in cast<int64>(%n[r])..8 {%y[r, c] = %x[max(min(%i[r], 32), 0), c]}
    alloc register %at: int64[] {
      %at[] = %i[r]
      while %at[] > 0 {%at[] = %at[] / 2 + -1}
      if %at[] < 0 {%last[r] = %at[]} else {%last[r] = %i[r] * %i[r]}
    }
  }
}
})");
}

// The statement's text in a kernel with an input and an output of each type.
std::string Stored(const std::string& statement) {
  const std::string text =
      "nest @k { input %f: float32[8] C input %g: float32[8] C "
      "input %d: float64[8] C input %h: float16[8] C input %w: bfloat16[8] C "
      "input %b: bool[8] C input %i8: int8[8] C input %u8: uint8[8] C input %i16: int16[8] C "
      "input %u16: uint16[8] C input %i: int32[8] C input %u: uint32[8] C "
      "input %l: int64[8] C input %ul: uint64[8] C output %yf: float32[8] C output %yd: float64[8] "
      "C "
      "output %yh: float16[8] C output %yw: bfloat16[8] C output %yb: bool[8] C "
      "output %yi8: int8[8] C output %yu8: uint8[8] C output %yu16: uint16[8] C "
      "output %yi: int32[8] C output %yu: uint32[8] C output %yl: int64[8] C "
      "output %yul: uint64[8] C run @l {for n in 0..8 {" +
      statement + "}}}";
  const std::vector<Kernel> kernels = KernelsOf(Parsed(text));
  if (kernels.empty()) return "";
  const std::string& kernel = kernels[0].text;
  const std::string head = "++n) {\n";
  const size_t begin = kernel.find(head) + head.size();
  std::string lines;
  std::stringstream body(kernel.substr(begin, kernel.find("  }\n}\n") - begin));
  for (std::string line; std::getline(body, line);) {
    lines += (lines.empty() ? "" : "\n") + line.substr(std::min<size_t>(line.size(), 4));
  }
  return lines;
}

TEST(OpenClExpressions, OfFloats) {
  EXPECT_EQ(Stored("%yf[n] = %f[n] * %g[n] + 1.5"), "yf[n] = f[n] * g[n] + 1.5f;");
  EXPECT_EQ(Stored("%yf[n] = neg(%f[n] - (%g[n] - 0.1))"),
            "yf[n] = -(f[n] - (g[n] - 0x1.99999ap-4f));");
  EXPECT_EQ(Stored("%yf[n] = max(%f[n], 0.0)"), "yf[n] = hone_max_float(f[n], 0.0f);");
  EXPECT_EQ(Stored("%yf[n] = exp(%f[n]) / (%f[n] / %g[n])"), "yf[n] = exp(f[n]) / (f[n] / g[n]);");
  EXPECT_EQ(Stored("%yf[n] = round(%f[n])"), "yf[n] = rint(f[n]);");
  EXPECT_EQ(Stored("%yd[n] = sqrt(%d[n]) + cast<float64>(%f[n])"),
            "yd[n] = sqrt(d[n]) + (double)f[n];");
  EXPECT_EQ(Stored("%yb[n] = isnan(%f[n])"), "yb[n] = (bool)isnan(f[n]);");
  EXPECT_EQ(Stored("%yb[n] = %f[n] < %g[n] or %b[n]"), "yb[n] = f[n] < g[n] || b[n] != 0;");
  EXPECT_EQ(Stored("%yf[n] = pow(%f[n], 2.0)"), "yf[n] = f[n] * f[n];");
}

TEST(OpenClExpressions, OfHalfSizeFloatsAreRounded) {
  EXPECT_EQ(Stored("%yh[n] = %h[n] + %h[n]"),
            "vstore_half(hone_round_half(vload_half(n, h) + vload_half(n, h)), n, yh);");
  EXPECT_EQ(Stored("%yw[n] = %w[n]"),
            "yw[n] = (ushort)(as_uint(as_float((uint)w[n] << 16)) >> 16);");
  EXPECT_EQ(Stored("%yw[n] = cast<bfloat16>(%d[n])"),
            "yw[n] = (ushort)(as_uint(hone_round_bfloat16(hone_odd_float_double(d[n]))) >> 16);");
}

TEST(OpenClExpressions, OfIntegersWrapAround) {
  EXPECT_EQ(Stored("%yi[n] = %i[n] + int32(1)"), "yi[n] = (int)((uint)i[n] + 1);");
  EXPECT_EQ(Stored("%yi[n] = cast<int32>(%i8[n]) * cast<int32>(%u8[n])"),
            "yi[n] = (int)i8[n] * (int)u8[n];");
  EXPECT_EQ(Stored("%yi8[n] = %i8[n] * %i8[n]"), "yi8[n] = (char)(i8[n] * i8[n]);");
  EXPECT_EQ(Stored("%yu16[n] = %u16[n] * %u16[n]"), "yu16[n] = (ushort)((uint)u16[n] * u16[n]);");
  EXPECT_EQ(Stored("%yul[n] = %ul[n] + uint64(3)"), "yul[n] = ul[n] + 3UL;");
  EXPECT_EQ(Stored("%yl[n] = %l[n] * %l[n]"), "yl[n] = (long)((ulong)l[n] * l[n]);");
}

TEST(OpenClExpressions, OfDivisionsNeverTrap) {
  EXPECT_EQ(Stored("%yi[n] = %i[n] / int32(7)"), "yi[n] = i[n] / 7;");
  EXPECT_EQ(Stored("%yi[n] = floordiv(%i[n], int32(8))"), "yi[n] = i[n] >> 3;");
  EXPECT_EQ(Stored("%yi[n] = floormod(%i[n], int32(7))"),
            "yi[n] = hone_floor_modulo_int(i[n], 7);");
  EXPECT_EQ(Stored("%yi[n] = mod(%i[n], %i[n] + int32(1))"),
            "yi[n] = hone_modulo_int(i[n], (int)((uint)i[n] + 1));");
  EXPECT_EQ(Stored("%yu8[n] = floordiv(%u8[n], uint8(7))"), "yu8[n] = u8[n] / 7;");
}

TEST(OpenClExpressions, OfShiftsTakeAnyCount) {
  EXPECT_EQ(Stored("%yi[n] = shl(%i[n], int32(3))"), "yi[n] = (int)((uint)i[n] << 3);");
  EXPECT_EQ(Stored("%yu8[n] = shr(%u8[n], uint8(4))"), "yu8[n] = (int)u8[n] >> 4;");
  EXPECT_EQ(Stored("%yi[n] = shr(%i[n], %i[n])"), "yi[n] = hone_shift_right_int(i[n], i[n]);");
}

TEST(OpenClExpressions, OfCastsRoundOnceAndSaturate) {
  EXPECT_EQ(Stored("%yi8[n] = cast<int8>(%f[n])"), "yi8[n] = hone_char_of_float(f[n]);");
  EXPECT_EQ(Stored("%yi8[n] = cast<int8>(%i[n])"), "yi8[n] = (char)i[n];");
  EXPECT_EQ(Stored("%yf[n] = cast<float32>(n)"), "yf[n] = (float)n;");
  EXPECT_EQ(Stored("%yf[n] = cast<float32>(%b[n])"), "yf[n] = (float)(b[n] != 0);");
  EXPECT_EQ(Stored("%yb[n] = cast<bool>(%f[n])"), "yb[n] = f[n] != 0.0f;");
}

// 64 bits where the ranges take them, and only there.
TEST(OpenClExpressions, OfIndicesAreIntsWhereTheyFit) {
  EXPECT_EQ(Stored("%yl[n] = n * 3 + 1"), "yl[n] = n * 3 + 1;");
  EXPECT_EQ(Stored("%yl[n] = n * 3000000000 + 1"), "yl[n] = n * 3000000000L + 1;");
  EXPECT_EQ(Stored("%yf[n] = %f[min(max(%l[n], 0), 7)]"),
            "yf[n] = f[(int)min(max(l[n], 0L), 7L)];");
  EXPECT_EQ(Stored("%yf[n] = %f[floormod(%l[n], 8)]"), "yf[n] = f[(int)(l[n] & 7L)];");
}

TEST(OpenClExpressions, OfSelectsEvaluateTheChosenSide) {
  EXPECT_EQ(Stored("%yf[n] = select(n > 0, %f[n - 1], 0.0)"), "yf[n] = n > 0 ? f[n + -1] : 0.0f;");
  EXPECT_EQ(Stored("%yf[n] = select(n > 0, %f[n - 1] * %g[n - 1], 0.0)"),
            "yf[n] = n > 0 ? f[n + -1] * g[n + -1] : 0.0f;");
}

TEST(OpenClNames, AreIdentifiersOfTheirOwn) {
  EXPECT_EQ(IdentifierOf("conv.i0"), "conv_i0");
  EXPECT_EQ(IdentifierOf("x/y:0"), "x_y_0");
  EXPECT_EQ(IdentifierOf("0"), "v_0");
  EXPECT_EQ(IdentifierOf("half"), "half_");
  EXPECT_EQ(IdentifierOf("float4"), "float4_");
  EXPECT_EQ(IdentifierOf("exp"), "exp_");
  EXPECT_EQ(IdentifierOf("__x"), "v_x");
  EXPECT_EQ(IdentifierOf("NAN"), "NAN_");
  EXPECT_EQ(IdentifierOf(""), "v_");
  Names names;
  EXPECT_EQ(names.Fresh("a.b"), "a_b");
  EXPECT_EQ(names.Fresh("a_b"), "a_b_2");
}

TEST(OpenClLiterals, AreExact) {
  EXPECT_EQ(FloatLiteral(-0.0, CType::kFloat).code, "-0.0f");
  EXPECT_EQ(FloatLiteral(0.1, CType::kDouble).code, "0x1.999999999999ap-4");
  EXPECT_EQ(FloatLiteral(-INFINITY, CType::kFloat).code, "-INFINITY");
  EXPECT_EQ(FloatLiteral(NAN, CType::kDouble).code, "(double)NAN");
  EXPECT_EQ(IntLiteral(INT64_MIN, CType::kLong).code, "LONG_MIN");
  EXPECT_EQ(IntLiteral(INT32_MIN, CType::kInt).code, "INT_MIN");
  EXPECT_EQ(IntLiteral(-1, CType::kUlong).code, "18446744073709551615UL");
}

TEST(OpenClKernel, SaysWhatItTakesToLaunchIt) {
  const std::vector<Kernel> kernels = KernelsOf(Parsed(R"(nest @k {
input %a: float32[4, 8] NC input %b: float64[4] C output %c: float64[4] C
run @l {parallel m in 0..2 {parallel n in 0..2 {alloc local %t: float64[3, 5] NC {
  %t[0, 0] = %b[m * 2 + n] %c[m * 2 + n] = %t[0, 0]}}}}
run @nothing {parallel m in 0..0 {%c[m] = float64(0)}}
})"));
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].entry, "k0_l");
  EXPECT_THAT(kernels[0].arguments, ElementsAre(1, 2));
  EXPECT_EQ(kernels[0].work_items, 4);
  EXPECT_TRUE(kernels[0].needs_fp64);
  EXPECT_EQ(kernels[1].work_items, 0);
  EXPECT_THAT(ProgramText(kernels, {.contract = false}), HasSubstr("FP_CONTRACT OFF"));
  EXPECT_THAT(ToText(BuildOptions()), Not(HasSubstr("fast")));
}

// Without tensor cores one thread does what a warp would.
TEST(OpenClKernel, TileOperationsInThreadLoopsAreLoops) {
  HONE_SKIP_WITHOUT_OPENCL();
  ExpectOpenClSameAsInterpreter(Parsed(R"(nest @k {
input %a: float16[32, 32] NC
input %b: float16[16, 32] NC
output %c: float32[32, 16] NC
run @product {
  parallel g in 0..1 {
    alloc tile %s: float32[32, 16] NC {
      thread y in 0..2 {tile m in 0..16 {vectorize n in 0..16 {%s[y * 16 + m, n] = 0.0}}}
      alloc shared %p: float16[16, 40] NC {
        thread t in 0..16 {for e in 0..32 {%p[t, e] = %b[t, e]}}
        thread y1 in 0..2 {tile m1 in 0..16 {for s1 in 0..16 {vectorize n1 in 0..16 {dot d1 in 0..2 {
          %s[y1 * 16 + m1, n1] = %s[y1 * 16 + m1, n1] + cast<float32>(%a[y1 * 16 + m1, s1 * 2 + d1]) * cast<float32>(%p[n1, s1 * 2 + d1])
        }}}}}
      }
      thread y2 in 0..2 {tile m2 in 0..16 {vectorize n2 in 0..16 {%c[y2 * 16 + m2, n2] = %s[y2 * 16 + m2, n2]}}}
    }
  }
}
})"),
                                1e-5);
}

TEST(OpenClKernel, RefusesWhatNothingBinds) {
  const auto y = loop::MakeBuffer("y", kF32, {4}, loop::Role::kOutput);
  lower::LoweredLaunch launch;
  launch.name = "l";
  const loop::Expr zero = loop::FloatConst(0, kF32);
  launch.body = loop::Store(y, {loop::Var("i")}, zero);
  EXPECT_EQ(EmitKernel(launch, "l", std::vector{y}).status().code(),
            absl::StatusCode::kInvalidArgument);
  launch.body = loop::Store(y, {0}, zero);
  EXPECT_EQ(EmitKernel(launch, "l", {}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hone::codegen::opencl
