#include "tests/tuner/fake_farm.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <set>
#include <utility>

#include "tests/paths.h"
#include "tests/tuner/fake_job.h"

namespace hone::tuner {

namespace v1 = hone::v1;
namespace fs = std::filesystem;

constexpr int64_t kStartLimitNs = 60'000'000'000;

FakeFarm::FakeFarm(size_t count, const std::string& database) : daemons_(count), workers_(count) {
  std::string name = fs::temp_directory_path() / "hone-farm-XXXXXX";
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  folder_ = name;
  database_ = database.empty() ? (folder_ / "hone.db").string() : database;
  for (size_t i = 0; i < count; ++i) {
    fs::create_directory(Folder(i));
    fs::permissions(Folder(i), fs::perms::owner_all);
  }
}

FakeFarm::~FakeFarm() {
  workers_.clear();
  daemons_.clear();
  fs::remove_all(folder_);
}

void FakeFarm::StartDaemon(size_t i, const std::string& crash_at) {
  daemons_[i].reset();
  setenv("HONE_CRASH_AT", crash_at.c_str(), 1);
  if (crash_at.empty()) unsetenv("HONE_CRASH_AT");
  auto child = ChildProcess::Start({HONE_TESTS_BIN "/fake_honed", database_, Socket(i)});
  unsetenv("HONE_CRASH_AT");
  ASSERT_TRUE(child.ok()) << child.status();
  daemons_[i] = std::make_unique<ChildProcess>(*std::move(child));
  (void)daemons_[i]->ReadLine(kStartLimitNs);
}

void FakeFarm::StartWorker(size_t i) {
  workers_[i].reset();
  auto child =
      ChildProcess::Start({HONE_TESTS_BIN "/fake_worker", Address(i), "w" + std::to_string(i)});
  ASSERT_TRUE(child.ok()) << child.status();
  workers_[i] = std::make_unique<ChildProcess>(*std::move(child));
}

absl::StatusOr<int64_t> FakeFarm::Submit(const std::string& client_id, int64_t trials, size_t i) {
  v1::SubmitJobRequest request;
  request.set_client_id(client_id);
  *request.mutable_spec() = FakeJob({"conv", "dense"}, trials);
  request.mutable_spec()->set_seed(3);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  v1::SubmitJobResponse response;
  const grpc::Status status = Stub(i)->SubmitJob(&context, request, &response);
  if (!status.ok()) {
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }
  return response.job().id();
}

std::unique_ptr<v1::TuningService::Stub> FakeFarm::Stub(size_t i) const {
  return v1::TuningService::NewStub(
      grpc::CreateChannel(Address(i), grpc::InsecureChannelCredentials()));
}

std::unique_ptr<tuning_db::Store> FakeFarm::OpenStore() const {
  return tuning_db::OpenStore(database_, tuning_db::OpenMode::kReadOnly).value();
}

void ExpectSound(tuning_db::Store& store, int64_t trials) {
  EXPECT_TRUE(store.OpenTrials(0).value().empty());
  const std::vector<std::string> faults = store.Check().value();
  for (const std::string& fault : faults) ADD_FAILURE() << fault;
  for (const int64_t task : {1, 2}) {
    EXPECT_EQ(store.CountTrials(task, "NC->NC", tuning_db::Purpose::kSearch).value(), trials);
  }
  std::set<int64_t> settled;
  std::set<int64_t> fences;
  const std::vector<tuning_db::Record> records = store.Records({}).value();
  for (const tuning_db::Record& record : records) {
    EXPECT_TRUE(settled.insert(record.trial).second) << "settled twice: " << record.trial;
    EXPECT_TRUE(fences.insert(record.of_trial.fence).second);
  }
}

}  // namespace hone::tuner
