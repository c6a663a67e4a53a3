#include "transport/grpc_log.h"

#include <gmock/gmock.h>
#include <grpc/support/log.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>

namespace hone {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(GrpcLog, SaysOnceThatNoNamesAreCompared) {
  std::ostringstream lines;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "captured", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines)));
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);  // as grpc_init does
  LogWhatGrpcSays();
  for (const char* name : {"10.0.0.7", "farm.example.org"}) {
    gpr_log(GPR_ERROR, "No match found for server name: %s.", name);
  }
  gpr_log(GPR_ERROR, "something else");
  gpr_set_log_function(nullptr);
  spdlog::set_default_logger(before);

  const std::string said = lines.str();
  EXPECT_THAT(said, Not(HasSubstr("No match found")));
  EXPECT_THAT(said, HasSubstr("[info] a client dialled by an address that the certificate"));
  EXPECT_THAT(said, HasSubstr("[error] gRPC: something else"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2) << said;
}

}  // namespace
}  // namespace hone
