// What lowering decides, by its passes and as text.
#include "compiler/lower/lower.h"

#include "compiler/loop/parser.h"
#include "compiler/lower/lanes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/compiler/lower/golden_launches.h"

namespace hone::lower {
namespace {

using ::testing::HasSubstr;

constexpr char kSapphireRapids[] = "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids -threads=2";
constexpr char kNarrow[] = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=2";

loop::Nest Parsed(const std::string& text) {
  absl::StatusOr<loop::Nest> nest = loop::ParseNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status() << "\n" << text;
  return nest.ok() ? *std::move(nest) : loop::Nest();
}

std::vector<LoweredLaunch> Lowered(const std::string& text, const std::string& target) {
  absl::StatusOr<std::vector<LoweredLaunch>> launches =
      LowerLaunches(Parsed(text), CpuTarget::Parse(target).value());
  EXPECT_TRUE(launches.ok()) << launches.status();
  return launches.ok() ? *std::move(launches) : std::vector<LoweredLaunch>();
}

// A weight is packed beforehand; the sums of a small product, then what reads them.
constexpr char kProduct[] = R"(nest @k {
input %a: float32[4, 8] NC
constant %w: float32[8, 8] NC
prepared %p: float32[8, 8] NC
workspace %s: float32[4, 8] NC
output %c: float32[4, 8] NC
run @sums {
  parallel m in 0..4 {
    vectorize n in 0..8 {
      %s[m, n] = 0.0
      for k in 0..8 {
        %s[m, n] = %s[m, n] + %a[m, k] * %p[k, n]
      }
    }
  }
}
run @relu {
  parallel m in 0..4 {
    parallel j in 0..2 {
      vectorize n in 0..4 {
        %c[m, j * 4 + n] = max(%s[m, j * 4 + n], 0.0)
      }
    }
  }
}
prepare @pack {
  parallel k in 0..8 {
    for n in 0..8 {
      %p[k, n] = %w[n, k]
    }
  }
}
}
)";

TEST(Lower, ReadsAsText) { ExpectGolden("product", Lowered(kProduct, kNarrow)); }

TEST(Lower, PrepareLaunchesComeFirstAndWhatReadsAnothersResultWaits) {
  const std::vector<LoweredLaunch> launches = Lowered(kProduct, kNarrow);
  ASSERT_EQ(launches.size(), 3u);
  EXPECT_EQ(launches[0].name, "pack");
  EXPECT_FALSE(launches[1].barrier_before) << "what is prepared is there before a run";
  EXPECT_TRUE(launches[2].barrier_before);
  EXPECT_EQ(launches[2].GridIndices(), 8);
}

std::string OneLoop(const std::string& body) {
  return "nest @k { input %a: float32[8, 8] NC output %c: float32[8, 8] NC run @l {" + body + "}}";
}

TEST(Lanes, ThoseThatStoreToOnePlaceAreALoop) {
  const auto text = [](const std::string& body) {
    return ToText(Lowered(OneLoop(body), kNarrow).at(0));
  };
  EXPECT_THAT(text("vectorize n in 0..8 { %c[0, n] = %a[0, n] }\n"), HasSubstr("vectorize n"));
  EXPECT_THAT(text("vectorize n in 0..8 { %c[0, 0] = %a[0, n] }\n"), HasSubstr("for n"));
  EXPECT_THAT(text("vectorize n in 0..8 { for k in 0..n { %c[k, n] = %a[k, n] } }\n"),
              HasSubstr("for n"));
}

TEST(Lanes, TheInnerOfTwoVectorisedLoopsStaysOne) {
  const std::string text = ToText(
      Lowered(OneLoop("vectorize m in 0..8 { vectorize n in 0..8 { %c[m, n] = %a[m, n] } }\n"),
              kNarrow)
          .at(0));
  EXPECT_THAT(text, HasSubstr("for m"));
  EXPECT_THAT(text, HasSubstr("vectorize n"));
}

TEST(Lower, AGridOfNoIndicesHasNone) {
  const std::vector<LoweredLaunch> launches =
      Lowered(OneLoop("parallel m in 0..0 { %c[m, 0] = %a[m, 0] }\n"), kNarrow);
  EXPECT_EQ(launches.at(0).GridIndices(), 0);
  EXPECT_TRUE(launches.at(0).serial);
}

TEST(Lower, ANestWithoutLaunchesIsRefused) {
  loop::Nest nest = Parsed(kProduct);
  nest.launches.clear();
  const absl::Status status = LowerLaunches(nest, CpuTarget::Parse(kNarrow).value()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("kernel k: a nest needs at least one launch"));
}

// Sums of tile operations lie in tile registers where the target has them.
TEST(Lower, TilesAreOfTargetsThatHaveThem) {
  const std::string text = R"(nest @k {
input %a: bfloat16[16, 32] NC
input %b: bfloat16[16, 32] NC16n2c
output %c: float32[16, 16] NC
run @l {
  alloc tile %s: float32[16, 16] NC16c {
    tile m in 0..16 { vectorize n in 0..16 { %s[m, n] = 0.0 } }
    tile m2 in 0..16 {
      for k in 0..16 {
        vectorize n2 in 0..16 {
          dot d in 0..2 {
            %s[m2, n2] = %s[m2, n2] + cast<float32>(%a[m2, k * 2 + d]) * cast<float32>(%b[n2, k * 2 + d])
          }
        }
      }
    }
    tile m3 in 0..16 { vectorize n3 in 0..16 { %c[m3, n3] = %s[m3, n3] } }
  }
}
}
)";
  EXPECT_TRUE(Lowered(text, kNarrow).at(0).tiles.regions.empty());
  const std::vector<LoweredLaunch> launches = Lowered(text, kSapphireRapids);
  EXPECT_EQ(launches.at(0).tiles.operations.size(), 3u);
  ExpectGolden("tiles", launches);
}

// No instruction sets a tile to anything but zero, or begins behind its first row.
TEST(Lower, TilesOfOtherValuesOrRowsAreNoneOfTheUnits) {
  const auto regions = [](const std::string& fill, const std::string& rows) {
    const std::string text =
        "nest @k { output %c: int32[32, 16] NC run @l { alloc tile %s: "
        "int32[32, 16] NC16c { tile m in " +
        rows + " { vectorize n in 0..16 { %s[m, n] = int32(" + fill +
        ")"
        " } } tile m2 in 0..16 { vectorize n2 in 0..16 { %c[m2, n2] = "
        "%s[m2, n2] } } } } }";
    return Lowered(text, kSapphireRapids).at(0).tiles.regions.size();
  };
  EXPECT_EQ(regions("0", "0..16"), 1u);
  EXPECT_EQ(regions("5", "0..16"), 0u);
  EXPECT_EQ(regions("0", "3..+16"), 0u);
}

}  // namespace
}  // namespace hone::lower
