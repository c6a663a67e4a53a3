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
  hello.set_toolchain("hone 1 LLVM 19");
  hello.add_target_kinds("llvm");
  hello.add_artifact_kinds(v1::ARTIFACT_KIND_ELF);
  return hello;
}

v1::BuildRequest For(const std::string& target) {
  v1::BuildRequest request;
  request.set_target(target);
  return request;
}

std::string WhyNot(const v1::BuilderHello& hello, const std::string& toolchain,
                   const std::string& target) {
  const absl::Status can = CanBuild(hello, toolchain, For(target));
  EXPECT_TRUE(can.ok() || absl::IsFailedPrecondition(can));
  return std::string(can.message());
}

TEST(BuilderCheck, OfTheToolchainAndTheKindsThatAreAskedFor) {
  EXPECT_EQ(WhyNot(Hello(), "hone 1 LLVM 19", "llvm -mcpu=znver4"), "");
  EXPECT_THAT(
      WhyNot(Hello(), "hone 1 LLVM 18", "llvm -mcpu=znver4"),
      HasSubstr("\"hone 1 LLVM 18\", as the first one was, found one of \"hone 1 LLVM 19\""));
  EXPECT_THAT(WhyNot(Hello(), "hone 1 LLVM 19", "cuda -arch=sm_90"),
              HasSubstr("of kind \"cuda\", found one for: llvm"));
  v1::BuilderHello of_cuda = Hello();
  of_cuda.add_target_kinds("cuda");
  EXPECT_THAT(WhyNot(of_cuda, "hone 1 LLVM 19", "cuda -arch=sm_90"),
              HasSubstr("makes ARTIFACT_KIND_PTX"));
  of_cuda.add_artifact_kinds(v1::ARTIFACT_KIND_PTX);
  EXPECT_EQ(WhyNot(of_cuda, "hone 1 LLVM 19", "cuda -arch=sm_90"), "");
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
  EXPECT_FALSE(IsAnswer(Hello(), For("cuda"), reply).ok());
  reply.set_toolchain("hone 1 LLVM 18");
  EXPECT_FALSE(IsAnswer(Hello(), For("llvm"), reply).ok());
  reply.set_outcome(v1::BUILD_OUTCOME_BUILD_ERROR);
  EXPECT_TRUE(IsAnswer(Hello(), For("llvm"), reply).ok()) << "there is no artifact";
}

}  // namespace
}  // namespace hone::tuner
