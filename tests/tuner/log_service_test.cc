// What a reader asks of the log, over RPC. What a filter finds is the store's business
// (tests/tuning_db/conformance_filters.cc).
#include <grpcpp/grpcpp.h>

#include <functional>

#include "gmock/gmock.h"
#include "tests/tuner/daemon_fixture.h"
#include "tests/tuning_db/examples.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using testing::ElementsAre;
using testing::HasSubstr;

class LogServiceTest : public DaemonFixture {
 protected:
  LogServiceTest() {
    const int64_t task = store_->EnsureTask(tuning_db::ExampleTask(7)).value();
    for (int n = 0; n < 4; ++n) Settle(tuning_db::ExampleTrial(task, 0, n), n == 3);
    tuning_db::Trial confirm = tuning_db::ExampleTrial(task, 0, 9);
    confirm.purpose = tuning_db::Purpose::kConfirm;
    Settle(confirm, false);
    tuning_db::Final final = tuning_db::ExampleFinal(task, 0);
    final.record = 5;
    store_->AddFinal(final).value();
    tuning_db::Final other = tuning_db::ExampleFinal(task, 0);
    other.signature = "NC->NC";
    store_->AddFinal(other).value();
  }

  void Settle(const tuning_db::Trial& wanted, bool is_crash) {
    const tuning_db::Trial trial = store_->Propose({wanted}).value().at(0);
    tuning_db::Record record = tuning_db::ExampleRecord(trial.id);
    if (is_crash) record.outcome = tuning_db::Outcome::kCrash;
    store_->Settle(store_->Lease(trial.id, "w").value().fence, record).value();
  }

  template <typename Request, typename Response>
  grpc::Status Call(grpc::Status (v1::LogService::Stub::*method)(grpc::ClientContext*,
                                                                 const Request&, Response*),
                    const Request& request, Response& response) {
    grpc::ClientContext context;
    return (log_.get()->*method)(&context, request, &response);
  }

  std::vector<int64_t> Ids(const v1::ListRecordsRequest& request) {
    v1::ListRecordsResponse response;
    const grpc::Status status = Call(&v1::LogService::Stub::ListRecords, request, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<int64_t> ids;
    for (const v1::RecordInfo& record : response.records()) ids.push_back(record.id());
    return ids;
  }
};

TEST_F(LogServiceTest, ListsWhatEachFieldOfAFilterMeans) {
  const auto ids = [&](const std::function<void(v1::LogFilter&)>& say) {
    v1::ListRecordsRequest request;
    request.set_oldest_first(true);
    say(*request.mutable_filter());
    return Ids(request);
  };
  EXPECT_THAT(ids([](auto& filter) { filter.set_op("nn.relu"); }), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(ids([](auto& filter) { filter.set_op("nn.conv2d"); }), ElementsAre());
  EXPECT_THAT(ids([](auto& filter) { filter.set_shape("1x7"); }), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(ids([](auto& filter) { filter.set_shape("1x8"); }), ElementsAre());
  EXPECT_THAT(ids([](auto& filter) { filter.set_target("threads=2"); }),
              ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(ids([](auto& filter) { filter.set_workload("float16"); }), ElementsAre());
  EXPECT_THAT(ids([](auto& filter) { filter.set_device("cpu of"); }), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(ids([](auto& filter) { filter.set_device("of"); }), ElementsAre());
  EXPECT_THAT(ids([](auto& filter) { filter.set_job(1); }), ElementsAre());
  EXPECT_THAT(ids([](auto& filter) { filter.set_purpose("confirm"); }), ElementsAre(5));
  EXPECT_THAT(ids([](auto& filter) { filter.set_outcome("failed"); }), ElementsAre(4));
  EXPECT_THAT(ids([](auto& filter) { filter.set_outcome("crash"); }), ElementsAre(4));
  EXPECT_THAT(ids([](auto& filter) { filter.set_before_wall_ns(1); }), ElementsAre());
  EXPECT_THAT(ids([](auto& filter) { filter.set_since_wall_ns(1); }), ElementsAre(1, 2, 3, 4, 5));
  ASSERT_TRUE(store_->Retract(2, "why").ok());
  EXPECT_THAT(ids([](auto&) {}), ElementsAre(1, 3, 4, 5));
  EXPECT_THAT(ids([](auto& filter) { filter.set_with_retracted(true); }),
              ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(LogServiceTest, TakesWhatTheFirstVersionOfTheRequestSaid) {
  v1::ListRecordsRequest request;
  request.set_target(tuning_db::ExampleTask().target);
  request.set_workload("nn.relu");
  request.mutable_filter()->set_purpose("confirm");
  EXPECT_THAT(Ids(request), ElementsAre(5));
  request.set_target("threads=2");
  EXPECT_THAT(Ids(request), ElementsAre()) << "there it is the whole text";
  request.mutable_filter()->set_workload("nn.relu");
  v1::ListRecordsResponse response;
  EXPECT_EQ(Call(&v1::LogService::Stub::ListRecords, request, response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(LogServiceTest, RefusesWhatMakesNoSenseInASentence) {
  const auto refused = [&](const std::function<void(v1::LogFilter&)>& say) {
    v1::ListRecordsRequest records;
    say(*records.mutable_filter());
    v1::ListRecordsResponse of_records;
    const grpc::Status status = Call(&v1::LogService::Stub::ListRecords, records, of_records);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    v1::GetLogStatsRequest stats;
    say(*stats.mutable_filter());
    v1::GetLogStatsResponse of_stats;
    EXPECT_EQ(Call(&v1::LogService::Stub::GetLogStats, stats, of_stats).error_message(),
              status.error_message());
    v1::ListFinalsRequest finals;
    say(*finals.mutable_filter());
    v1::ListFinalsResponse of_finals;
    EXPECT_EQ(Call(&v1::LogService::Stub::ListFinals, finals, of_finals).error_message(),
              status.error_message());
    return status.error_message();
  };
  EXPECT_THAT(refused([](auto& filter) { filter.set_outcome("bad"); }),
              HasSubstr("expected an outcome"));
  EXPECT_THAT(refused([](auto& filter) { filter.set_purpose("bad"); }),
              HasSubstr("expected a purpose"));
  EXPECT_THAT(refused([](auto& filter) { filter.set_shape("bad"); }),
              HasSubstr("expected a shape"));
  EXPECT_THAT(refused([](auto& filter) { filter.set_op("relu(x)"); }),
              HasSubstr("expected an operator"));
}

TEST_F(LogServiceTest, ARecordComesWithAllThatRepeatsIt) {
  v1::GetRecordRequest request;
  request.set_record(5);
  v1::GetRecordResponse response;
  ASSERT_TRUE(Call(&v1::LogService::Stub::GetRecord, request, response).ok());
  EXPECT_EQ(response.record().id(), 5);
  EXPECT_EQ(response.workload_digest(), tuning_db::ExampleTask(7).workload_digest);
  EXPECT_EQ(response.anchor_digest(), tuning_db::ExampleTask(7).anchor_digest);
  EXPECT_EQ(response.samples_ns_size(), 3);
  EXPECT_EQ(response.anchor_ns(), 2000);
  EXPECT_EQ(response.attempt(), 1);
  EXPECT_EQ(response.final(), 1);
  request.set_record(6);
  EXPECT_EQ(Call(&v1::LogService::Stub::GetRecord, request, response).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(LogServiceTest, ListsFinalsInPages) {
  v1::ListFinalsRequest request;
  request.set_page_size(1);
  std::vector<std::string> signatures;
  do {
    v1::ListFinalsResponse response;
    ASSERT_TRUE(Call(&v1::LogService::Stub::ListFinals, request, response).ok());
    for (const v1::FinalInfo& final : response.finals()) {
      signatures.push_back(final.signature());
      EXPECT_EQ(final.entries_size(), 2);
      EXPECT_EQ(final.winner(), 1);
      EXPECT_EQ(final.winner_ns(), 1002.5);
      EXPECT_TRUE(final.tuned());
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_THAT(signatures, ElementsAre(tuning_db::kSignature, "NC->NC"));
  request.set_page_token("nonsense");
  v1::ListFinalsResponse response;
  EXPECT_EQ(Call(&v1::LogService::Stub::ListFinals, request, response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(LogServiceTest, CountsTheLog) {
  v1::GetLogStatsResponse stats;
  ASSERT_TRUE(Call(&v1::LogService::Stub::GetLogStats, v1::GetLogStatsRequest(), stats).ok());
  EXPECT_EQ(stats.records(), 5);
  EXPECT_EQ(stats.failures(), 1);
  EXPECT_EQ(stats.tasks(), 1);
  EXPECT_EQ(stats.finals(), 2);
  EXPECT_EQ(stats.outcomes_size(), 2);
  EXPECT_EQ(stats.purposes_size(), 2);
  ASSERT_EQ(stats.days_size(), 1);
  EXPECT_EQ(stats.days(0).name(), "2023-11-14");
}

}  // namespace
}  // namespace hone::tuner
