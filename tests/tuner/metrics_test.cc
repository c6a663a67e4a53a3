// What a daemon tells who watches it.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "tests/tuner/daemon_fixture.h"
#include "tests/tuner/world.h"
#include "tuner/metered.h"
#include "tuner/metrics/daemon_metrics.h"
#include "tuner/metrics/metrics_server.h"
#include "tuner/service/rpc_counts.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

// The answer to GET `path` at a port of this machine; empty where nobody answers.
std::string Get(int port, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    const std::string request =
        "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    EXPECT_EQ(send(fd, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    std::array<char, 4096> part;
    for (ssize_t size = 0; (size = recv(fd, part.data(), part.size(), 0)) > 0;) {
      answer.append(part.data(), static_cast<size_t>(size));
    }
  }
  close(fd);
  return answer;
}

Histogram::Totals Seconds(const std::vector<double>& values) {
  Histogram histogram({0.1, 1});
  for (const double value : values) histogram.Add(value);
  return histogram.Read();
}

TEST(MetricsServer, AnswersInTheTextFormatOfPrometheus) {
  const auto server = MetricsServer::Start("127.0.0.1:0", [] {
    return std::vector<Metric>{
        {"hone_jobs", "Jobs.", Metric::Type::kGauge, {{{{"state", "a \"b\"\n"}}, 2}}},
        {"hone_calls_total", "Calls.", Metric::Type::kCounter, {{{}, 3}}},
        {"hone_none", "Nothing.", Metric::Type::kGauge, {}},
        {"hone_wait_seconds",
         "Waits.",
         Metric::Type::kHistogram,
         {{{}, 0, Seconds({0.05, 0.5, 5})}}}};
  });
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string answer = Get((*server)->port(), "/metrics");
  EXPECT_THAT(answer, HasSubstr("200 OK"));
  EXPECT_THAT(answer, HasSubstr("# TYPE hone_jobs gauge\nhone_jobs{state=\"a \\\"b\\\"\\n\"} 2\n"));
  EXPECT_THAT(answer, HasSubstr("# TYPE hone_calls_total counter\nhone_calls_total 3\n"));
  EXPECT_THAT(answer, HasSubstr("hone_wait_seconds_bucket{le=\"0.1\"} 1\n"));
  EXPECT_THAT(answer, HasSubstr("hone_wait_seconds_bucket{le=\"1\"} 2\n"));
  EXPECT_THAT(answer, HasSubstr("hone_wait_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(answer, HasSubstr("hone_wait_seconds_count 3\n"));
  EXPECT_THAT(answer, Not(HasSubstr("hone_none")));
  EXPECT_THAT(Get((*server)->port(), "/"), HasSubstr("404"));
}

TEST(MetricsServer, RefusesWhatIsNoAddressOrTaken) {
  const auto none = [] { return std::vector<Metric>(); };
  for (const char* address : {"", "host", "1.2.3.4:", ":70000", "127.0.0.1:1,0.0.0.0:2"}) {
    const auto server = MetricsServer::Start(address, none);
    EXPECT_TRUE(absl::IsInvalidArgument(server.status())) << address << ": " << server.status();
  }
  const auto first = MetricsServer::Start("0", none);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = MetricsServer::Start(std::to_string((*first)->port()), none);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
}

TEST(Metrics, CountAFarmAsItGoes) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 2);
  world.Submit({.trials = 12});
  world.Drain();
  const auto figures = [&] {
    FarmFigures read;
    world.dispatcher->Figures([&](FarmFigures told) { read = std::move(told); });
    world.Drain();
    return read;
  };
  worker.Begin();
  world.Drain();
  FarmFigures farm = figures();
  EXPECT_EQ(farm.leases["running"], 1u);
  EXPECT_EQ(farm.leases["waiting"], 1u);
  EXPECT_GT(farm.queued["llvm"], 0u);
  EXPECT_EQ(farm.workers["measuring"], 1u);
  EXPECT_EQ(farm.devices["busy"], 1u);
  world.Run();
  farm = figures();
  EXPECT_EQ(farm.leases["running"] + farm.leases["waiting"] + farm.queued["llvm"], 0u);
  EXPECT_EQ(farm.workers["idle"], 1u);
  uint64_t settled = 0;
  for (const auto& [outcome, count] : farm.settled) settled += count;
  EXPECT_EQ(settled, static_cast<uint64_t>(worker.runs));
  EXPECT_EQ(farm.settle_seconds.count, settled);
  EXPECT_EQ(farm.lease_seconds.count, settled);
  EXPECT_EQ(farm.leases_lost, 0u);
  EXPECT_EQ(world.loop->JobsEnded()["done"], 1u);
  worker.Disconnect(true);
  world.Drain();
  EXPECT_EQ(figures().workers["idle"], 0u);
}

TEST(Metrics, OfBuildsAreByOutcome) {
  BuildCounts counts;
  counts.Begin(3);
  v1::BuildReply reply;
  reply.set_outcome(v1::BUILD_OUTCOME_OK);
  reply.set_link_ns(20'000'000);
  counts.End(reply);
  counts.End(absl::UnavailableError("it died"));
  const BuildCounts::Totals totals = counts.Read();
  EXPECT_EQ(totals.open, 1u);
  EXPECT_THAT(totals.ended, ElementsAre(Pair("builder_failed", 1u), Pair("ok", 1u)));
  EXPECT_EQ(totals.seconds.count, 1u);
  EXPECT_DOUBLE_EQ(totals.seconds.sum, 0.02);
}

TEST(Metrics, PhasesOfAJobAreItsOwn) {
  PhaseSeconds seconds;
  seconds.Add(7, "timing", 2'000'000'000);
  seconds.Add(8, "timing", 1'000'000'000);
  seconds.Add(8, "link", 500'000'000);
  EXPECT_THAT(seconds.OfJob(7), ElementsAre(Pair("timing", 2.0)));
  EXPECT_THAT(seconds.OfJob(8), ElementsAre(Pair("link", 0.5), Pair("timing", 1.0)));
  EXPECT_TRUE(seconds.OfJob(9).empty());
  EXPECT_THAT(seconds.Snapshot(), ElementsAre(Pair("link", 0.5), Pair("timing", 3.0)));
  for (int64_t job = 0; job < 3000; ++job) seconds.Add(100 + job, "timing", 1);
  EXPECT_TRUE(seconds.OfJob(7).empty()) << "the oldest are forgotten";
  EXPECT_FALSE(seconds.OfJob(3099).empty());
}

TEST(Metrics, NamesThatCallersChooseAreOneLine) {
  RpcCounts counts;
  counts.Add("/hone.v1.TuningService/GetJob", absl::StatusCode::kNotFound);
  counts.Add("/a/b", absl::StatusCode::kUnimplemented);
  counts.Add("/c/d", absl::StatusCode::kUnimplemented);
  EXPECT_THAT(counts.Read(),
              ElementsAre(Pair(Pair("hone.v1.TuningService/GetJob", "NOT_FOUND"), 1u),
                          Pair(Pair("other", "UNIMPLEMENTED"), 2u)));
}

TEST(Metrics, HaveBaseUnitsAndEndAsTheirTypesDo) {
  DaemonFigures figures;
  figures.farm.emplace();
  figures.jobs.emplace();
  const std::vector<Metric> metrics = MetricsOf(figures);
  EXPECT_GT(metrics.size(), 20u);
  for (const Metric& metric : metrics) {
    EXPECT_EQ(metric.name.ends_with("_total"), metric.type == Metric::Type::kCounter)
        << metric.name;
    if (metric.type == Metric::Type::kHistogram) {
      EXPECT_TRUE(metric.name.ends_with("_seconds")) << metric.name;
    }
    EXPECT_FALSE(metric.help.empty()) << metric.name;
  }
}

class MetricsOfDaemon : public DaemonFixture {};

TEST_F(MetricsOfDaemon, AreServedWhereTheyAreAskedFor) {
  EXPECT_EQ(daemon_->metrics_port(), 0) << "by default nowhere";
  daemon_.reset();
  metrics_ = "127.0.0.1:0";
  StartDaemon();
  StartWorker();
  v1::JobInfo job;
  ASSERT_TRUE(Submit(Request("c"), &job).ok());
  (void)Watch(job.id(), 0);
  const std::string answer = Get(daemon_->metrics_port(), "/metrics");
  EXPECT_THAT(answer, HasSubstr("hone_jobs{state=\"running\"} 0\n"));
  EXPECT_THAT(answer, HasSubstr("hone_jobs_ended_total{state=\"done\"} 1\n"));
  EXPECT_THAT(answer, HasSubstr("hone_workers{state=\"idle\"} 1\n"));
  EXPECT_THAT(answer, HasSubstr("hone_results_settled_total{outcome=\"ok\"} "));
  EXPECT_THAT(answer, HasSubstr("hone_builds_total{outcome=\"ok\"} "));
  EXPECT_THAT(answer, HasSubstr("hone_rpcs_total{method=\"hone.v1.TuningService/SubmitJob\",code="
                                "\"OK\"} 1\n"));
  EXPECT_THAT(answer, HasSubstr("process_resident_memory_bytes "));
}

}  // namespace
}  // namespace hone::tuner
