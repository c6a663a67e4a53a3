// The log as it leaves a daemon and comes into one.
#include <grpcpp/grpcpp.h>

#include <sstream>

#include "gmock/gmock.h"
#include "tests/tuner/daemon_fixture.h"
#include "tests/tuning_db/examples.h"
#include "tuning_db/log_io.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using testing::HasSubstr;

class LogTransferTest : public DaemonFixture {
 protected:
  static void Fill(tuning_db::Store& store) {
    const int64_t task = store.EnsureTask(tuning_db::ExampleTask(7)).value();
    for (int n = 0; n < 4; ++n) {
      store.Import(tuning_db::ExampleTrial(task, 0, n), tuning_db::ExampleRecord(0)).value();
    }
    store.AddFinal(tuning_db::ExampleFinal(task, 0)).value();
  }
  grpc::Status Export(const v1::ExportLogRequest& request, v1::ExportLogResponse& response) {
    grpc::ClientContext context;
    return log_->ExportLog(&context, request, &response);
  }
  grpc::Status Import(const std::string& lines, v1::ImportLogResponse& response) {
    grpc::ClientContext context;
    v1::ImportLogRequest request;
    request.set_lines(lines);
    return log_->ImportLog(&context, request, &response);
  }
};

TEST_F(LogTransferTest, PagesOfADaemonMakeTheWholeLog) {
  Fill(*store_);
  const auto copy = tuning_db::MakeMemoryStore();
  v1::ExportLogRequest request;
  request.set_page_size(3);
  do {
    v1::ExportLogResponse response;
    const grpc::Status status = Export(request, response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    std::istringstream lines(response.lines());
    ASSERT_TRUE(tuning_db::ImportLog(*copy, lines).ok());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  std::ostringstream of_copy;
  std::ostringstream of_daemon;
  ASSERT_TRUE(tuning_db::ExportLog(*copy, {}, of_copy).ok());
  ASSERT_TRUE(tuning_db::ExportLog(*store_, {}, of_daemon).ok());
  EXPECT_EQ(of_copy.str(), of_daemon.str());
}

TEST_F(LogTransferTest, AFilterOrATokenOfNoSenseIsRefused) {
  v1::ExportLogRequest request;
  v1::ExportLogResponse response;
  request.mutable_filter()->set_outcome("bad");
  EXPECT_EQ(Export(request, response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.clear_filter();
  request.set_page_token("nonsense");
  EXPECT_EQ(Export(request, response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(LogTransferTest, LinesAreImportedOnceAndABadOneChangesNothing) {
  const auto from = tuning_db::MakeMemoryStore();
  Fill(*from);
  std::ostringstream log;
  ASSERT_TRUE(tuning_db::ExportLog(*from, {}, log).ok());
  v1::ImportLogResponse added;
  const grpc::Status bad = Import(log.str() + "{}\n", added);
  EXPECT_EQ(bad.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(bad.error_message(), HasSubstr("line 7"));
  EXPECT_TRUE(store_->Records({}).value().empty());
  ASSERT_TRUE(Import(log.str(), added).ok());
  EXPECT_EQ(added.records(), 4);
  EXPECT_EQ(added.finals(), 1);
  ASSERT_TRUE(Import(log.str(), added).ok());
  EXPECT_EQ(added.records() + added.finals(), 0);
  EXPECT_EQ(added.known(), 5);
}

}  // namespace
}  // namespace hone::tuner
