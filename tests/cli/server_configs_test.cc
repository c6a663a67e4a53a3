// `--server` of the verbs that compile: how often they ask, and what becomes of what they are told.
#include <grpcpp/grpcpp.h>
#include <stdlib.h>

#include <map>
#include <mutex>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hone/v1/tuning.grpc.pb.h"
#include "tests/cli/run_hone.h"
#include "tests/paths.h"

namespace hone::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Knows nothing, and counts how often it is asked.
class CountingService final : public v1::TuningService::Service {
 public:
  explicit CountingService(bool is_old) : is_old_(is_old) {}

  grpc::Status GetConfigs(grpc::ServerContext*, const v1::GetConfigsRequest* request,
                          v1::GetConfigsResponse* response) override {
    const std::lock_guard lock(mutex_);
    configs_.push_back(*request);
    for (int i = 0; i < request->keys_size(); ++i) response->add_configs();
    for (int i = 0; i < request->calibrations_size(); ++i) response->add_calibrations();
    response->set_is_of_model(!is_old_);
    return grpc::Status::OK;
  }
  grpc::Status GetModelFinal(grpc::ServerContext*, const v1::GetModelFinalRequest* request,
                             v1::GetModelFinalResponse*) override {
    const std::lock_guard lock(mutex_);
    finals_.push_back(*request);
    return grpc::Status::OK;
  }

  std::vector<v1::GetConfigsRequest> configs() {
    const std::lock_guard lock(mutex_);
    return configs_;
  }
  std::vector<v1::GetModelFinalRequest> finals() {
    const std::lock_guard lock(mutex_);
    return finals_;
  }

 private:
  const bool is_old_;
  std::mutex mutex_;
  std::vector<v1::GetConfigsRequest> configs_;
  std::vector<v1::GetModelFinalRequest> finals_;
};

class ServerConfigs : public ::testing::Test {
 protected:
  void Serve(bool is_old = false) {
    service_ = std::make_unique<CountingService>(is_old);
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  std::string Zoo(const std::string& name) {
    EXPECT_EQ(RunHone({"zoo", name, "-o", name + ".onnx"}, folder_.path()).exit_code, 0);
    return name + ".onnx";
  }
  json Hone(const std::vector<std::string>& args) { return RunHoneJson(args, folder_.path()); }

  TestFolder folder_;
  const std::string address_ = "unix:" + (folder_ / "honed.sock");
  std::unique_ptr<CountingService> service_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(ServerConfigs, AllOfAModelIsOneCall) {
  Serve();
  const json document = Hone({"explain", Zoo("squeezenet"), "--server", address_});
  EXPECT_TRUE(service_->finals().empty());
  const std::vector<v1::GetConfigsRequest> asked = service_->configs();
  ASSERT_EQ(asked.size(), 1);
  EXPECT_EQ(asked[0].target(), document["target"]);
  EXPECT_GT(asked[0].keys_size(), static_cast<int>(document["kernels"].size()))
      << "other layouts, and copies to them, as well";
  EXPECT_GT(asked[0].calibrations_size(), 0);
  EXPECT_FALSE(asked[0].skeleton().empty());
}

TEST_F(ServerConfigs, AModelThatRepeatsAFunctionIsOneCall) {
  Serve();
  Hone({"explain", Zoo("lstm"), "--server", address_});
  EXPECT_EQ(service_->configs().size(), 1);
}

TEST_F(ServerConfigs, EverySpecialisationIsOneCallForWhatIsNew) {
  Serve();
  Hone({"explain", std::string(HONE_TEST_DATA) + "/onnx/symbolic.onnx", "--server", address_,
        "--shape", "x=1,3", "--shape", "bias=1,4", "--shape", "x=4,3"});
  const std::vector<v1::GetConfigsRequest> asked = service_->configs();
  ASSERT_EQ(asked.size(), 2);
  EXPECT_NE(asked[0].skeleton(), asked[1].skeleton());
  EXPECT_EQ(asked[1].calibrations_size(), 0) << "those of the target are known by then";
}

TEST_F(ServerConfigs, AnOlderDaemonIsAskedForTheFinalAndTheCalibrationsByThemselves) {
  Serve(/*is_old=*/true);
  Hone({"explain", Zoo("mlp"), "--server", address_});
  EXPECT_EQ(service_->finals().size(), 1);
  const std::vector<v1::GetConfigsRequest> asked = service_->configs();
  ASSERT_GE(asked.size(), 2);
  EXPECT_THAT(asked[1].target(), HasSubstr("-threads=1")) << "as an older daemon reads it";
}

TEST_F(ServerConfigs, TheServerOfTheEnvironmentCountsWhereNoneIsNamed) {
  Serve();
  const std::string model = Zoo("mlp");
  setenv("HONE_SERVER", address_.c_str(), 1);
  Hone({"compile", model, "-o", "m.so", "--threads", "1"});
  EXPECT_EQ(service_->configs().size(), 1);
  Hone({"bench", "m.so"});
  Hone({"show", model, "--time-passes"});
  EXPECT_EQ(service_->configs().size(), 2) << "a module is compiled already; `show` reads times";
  server_->Shutdown();
  const Finished away = RunHone({"explain", model}, folder_.path());
  EXPECT_EQ(away.exit_code, 5);
  EXPECT_THAT(away.err, HasSubstr("expected a tuning server at " + address_));
  unsetenv("HONE_SERVER");
  EXPECT_EQ(RunHone({"explain", model}, folder_.path()).exit_code, 0);
  EXPECT_EQ(
      RunHone({"explain", model, "--server", address_, "--db", "x"}, folder_.path()).exit_code, 2);
}

}  // namespace
}  // namespace hone::cli
