// Which builders do for which requests.
#include "tuner/builder/client/builder_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using ::testing::HasSubstr;

v1::BuilderHello Hello() {
  v1::BuilderHello hello;
  (*hello.mutable_toolchains())["llvm"] = "hone 1 LLVM 19";
  hello.add_artifact_kinds(v1::ARTIFACT_KIND_ELF);
  return hello;
}

v1::BuildRequest For(const std::string& target) {
  v1::BuildRequest request;
  request.set_target(target);
  return request;
}

v1::BuilderHello HelloOf(const std::string& toolchain) {
  v1::BuilderHello hello = Hello();
  (*hello.mutable_toolchains())["llvm"] = toolchain;
  return hello;
}

std::string WhyNot(const v1::BuilderHello& hello, const v1::BuilderHello& first,
                   const std::string& target) {
  const absl::Status can = CanBuild(hello, first, For(target));
  EXPECT_TRUE(can.ok() || absl::IsFailedPrecondition(can));
  return std::string(can.message());
}

TEST(BuilderCheck, OfTheToolchainAndTheKindsThatAreAskedFor) {
  EXPECT_EQ(WhyNot(Hello(), Hello(), "llvm -mcpu=znver4"), "");
  EXPECT_THAT(
      WhyNot(Hello(), HelloOf("hone 1 LLVM 18"), "llvm -mcpu=znver4"),
      HasSubstr("\"hone 1 LLVM 18\", as the first one was, found one of \"hone 1 LLVM 19\""));
  EXPECT_THAT(WhyNot(Hello(), Hello(), "opencl -device=pocl"),
              HasSubstr("of kind \"opencl\", found one for: llvm"));
  v1::BuilderHello of_both = Hello();
  (*of_both.mutable_toolchains())["opencl"] = "OpenCL C code 1";
  EXPECT_EQ(WhyNot(of_both, of_both, "opencl -device=pocl"), "");
  of_both.clear_artifact_kinds();
  EXPECT_THAT(WhyNot(of_both, of_both, "opencl -device=pocl"),
              HasSubstr("makes ARTIFACT_KIND_ELF"));
}

TEST(BuilderCheck, WhatSaysSomethingElseFirstIsNoBuilder) {
  EXPECT_TRUE(ParseHello(Hello().SerializeAsString()).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(ParseHello("").status()));
  v1::BuildReply reply;
  reply.set_id(3);
  EXPECT_TRUE(absl::IsFailedPrecondition(ParseHello(reply.SerializeAsString()).status()));
}

TEST(BuilderCheck, AnswersAreOfTheKindAndTheToolchain) {
  v1::BuildReply reply;
  reply.set_outcome(v1::BUILD_OUTCOME_OK);
  reply.set_kind(v1::ARTIFACT_KIND_ELF);
  reply.set_toolchain("hone 1 LLVM 19");
  EXPECT_TRUE(IsAnswer(Hello(), For("llvm"), reply).ok());
  EXPECT_FALSE(IsAnswer(Hello(), For("opencl"), reply).ok());
  reply.set_toolchain("hone 1 LLVM 18");
  EXPECT_FALSE(IsAnswer(Hello(), For("llvm"), reply).ok());
  reply.set_outcome(v1::BUILD_OUTCOME_BUILD_ERROR);
  EXPECT_TRUE(IsAnswer(Hello(), For("llvm"), reply).ok()) << "there is no artifact";
}

}  // namespace
}  // namespace hone::tuner
