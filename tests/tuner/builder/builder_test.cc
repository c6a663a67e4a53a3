// Real hone-builder processes build real candidates, and outlive the bad ones.
#include <fmt/format.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "compiler/ops/lower.h"
#include "compiler/schedule/template.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/module.h"
#include "support/digest.h"
#include "tests/compiler/schedule/opened.h"
#include "tests/paths.h"
#include "tuner/builder/batch_runner.h"
#include "tuner/builder/client/builder_check.h"
#include "tuner/builder/client/builder_pool.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;

constexpr const char* kWorkload =
    "fn (p0: Tensor[(1, 32, 10, 10), float32], const p1: Tensor[(48, 32, 3, 3), float32]) { %0 = "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) } accumulate=float32 numerics=default";
constexpr const char* kTarget = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -threads=2";

// Candidates of one task: the default config and random ones.
class Candidates {
 public:
  Candidates() : def_(*ops::LowerWorkload(kWorkload)) {
    task_.def = &def_;
    task_.target = *CpuTarget::Parse(kTarget);
    chosen_ = &schedule::TemplateFor(def_);
    task_.signature = chosen_->Signatures(def_, machine::Machine::For(task_.target))[0];
  }

  v1::BuildRequest Request(uint64_t id, const schedule::Config& config) const {
    v1::BuildRequest request;
    request.set_id(id);
    request.set_target(kTarget);
    request.set_limit_ns(int64_t{30} * 1000 * 1000 * 1000);
    v1::BuildCandidate& candidate = *request.mutable_candidate();
    candidate.set_workload(kWorkload);
    candidate.set_signature(task_.signature.ToString());
    candidate.set_config(config.ToText());
    candidate.set_nest_digest(schedule::NestDigest(*schedule::NestOfConfig(task_, config)));
    return request;
  }
  v1::BuildRequest Random(uint64_t id) const {
    hone::Random random(id);
    return Request(id, schedule::SpaceOfTask(task_).Sample(random));
  }
  v1::BuildRequest Default(uint64_t id) const {
    return Request(id, schedule::DefaultOfTask(task_));
  }

 private:
  ops::KernelDefinition def_;
  schedule::Task task_;
  const schedule::Template* chosen_;
};

using Replies = std::map<uint64_t, absl::StatusOr<v1::BuildReply>>;

// Builds a batch and waits for all its answers.
Replies BuildAll(BuilderPool& pool, const v1::BuildBatch& batch) {
  std::mutex mutex;
  std::condition_variable changed;
  Replies replies;
  pool.Build(batch, [&](uint64_t id, absl::StatusOr<v1::BuildReply> reply) {
    const std::lock_guard<std::mutex> lock(mutex);
    replies.emplace(id, std::move(reply));
    changed.notify_all();
  });
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return static_cast<int>(replies.size()) == batch.requests_size(); });
  return replies;
}

v1::BuildOutcome OutcomeOf(const Replies& replies, uint64_t id) {
  const auto& reply = replies.at(id);
  return reply.ok() ? reply->outcome() : v1::BUILD_OUTCOME_UNSPECIFIED;
}

class BuilderPoolTest : public testing::Test {
 protected:
  BuilderPoolTest() { unsetenv("HONE_BUILDER_FAULT"); }
  ~BuilderPoolTest() override { unsetenv("HONE_BUILDER_FAULT"); }

  static BuilderPool::Options Options() {
    BuilderPool::Options options;
    options.executable = HONE_BIN_DIR "/hone-builder";
    return options;
  }

  Candidates candidates_;
};

TEST_F(BuilderPoolTest, BuildsABatchOfArtifactsThatLoad) {
  BuilderPool pool(Options());
  v1::BuildBatch batch;
  for (uint64_t id = 1; id <= 6; ++id) *batch.add_requests() = candidates_.Random(id);
  *batch.add_requests() = candidates_.Default(7);
  v1::BuildRequest& reference = *batch.add_requests();
  reference.set_id(8);
  reference.set_target(kTarget);
  reference.mutable_reference()->set_workload(kWorkload);
  const Replies replies = BuildAll(pool, batch);
  for (const auto& [id, reply] : replies) {
    ASSERT_TRUE(reply.ok()) << reply.status().ToString();
    ASSERT_EQ(reply->outcome(), v1::BUILD_OUTCOME_OK) << reply->message();
    EXPECT_EQ(reply->kind(), v1::ARTIFACT_KIND_ELF);
    EXPECT_EQ(reply->artifact_digest(), Sha256Hex(reply->artifact()));
    EXPECT_THAT(reply->toolchain(), testing::HasSubstr("LLVM"));
    EXPECT_GT(reply->machine_code_ns(), 0);
    std::string error;
    const auto module =
        Module::OpenBytes(reply->artifact().data(), reply->artifact().size(), &error);
    ASSERT_NE(module, nullptr) << error;
    EXPECT_EQ(module->table().kernel_count, 1u);
    EXPECT_STREQ(module->table().kernels[0].workload_digest,
                 ops::LowerWorkload(kWorkload)->workload.digest.c_str());
    EXPECT_EQ(module->table().kernels[0].flops > 0, true);
  }
}

TEST_F(BuilderPoolTest, BuildsTheSameBytesAgain) {
  BuilderPool pool(Options());
  v1::BuildBatch batch;
  *batch.add_requests() = candidates_.Default(1);
  *batch.add_requests() = candidates_.Default(2);
  const Replies replies = BuildAll(pool, batch);
  EXPECT_EQ(replies.at(1)->artifact_digest(), replies.at(2)->artifact_digest());
}

TEST_F(BuilderPoolTest, NamesWhatIsWrongWithARequest) {
  BuilderPool pool(Options());
  v1::BuildBatch batch;
  *batch.add_requests() = candidates_.Default(1);
  batch.mutable_requests(0)->mutable_candidate()->set_config("{\"no_such_knob\":1}");
  *batch.add_requests() = candidates_.Default(2);
  batch.mutable_requests(1)->mutable_candidate()->set_nest_digest("0123");
  *batch.add_requests() = candidates_.Default(3);
  batch.mutable_requests(2)->mutable_candidate()->set_workload("fn (");
  *batch.add_requests() = candidates_.Default(4);
  batch.mutable_requests(3)->set_target("abacus -beads=10");
  *batch.add_requests() = candidates_.Default(5);
  *batch.add_requests() = candidates_.Default(6);
  batch.mutable_requests(5)->set_target("llvm -beads=10");
  const Replies replies = BuildAll(pool, batch);
  EXPECT_EQ(OutcomeOf(replies, 1), v1::BUILD_OUTCOME_INVALID_CONFIG);
  EXPECT_EQ(OutcomeOf(replies, 2), v1::BUILD_OUTCOME_BUILD_ERROR);
  EXPECT_THAT(replies.at(2)->message(), testing::HasSubstr("0123"));
  EXPECT_EQ(OutcomeOf(replies, 3), v1::BUILD_OUTCOME_BUILD_ERROR);
  EXPECT_TRUE(absl::IsFailedPrecondition(replies.at(4).status())) << "it is no builder for that";
  EXPECT_THAT(std::string(replies.at(4).status().message()), testing::HasSubstr("abacus"));
  EXPECT_EQ(OutcomeOf(replies, 6), v1::BUILD_OUTCOME_BUILD_ERROR);
  EXPECT_THAT(replies.at(6)->message(), testing::HasSubstr("beads"));
  EXPECT_EQ(OutcomeOf(replies, 5), v1::BUILD_OUTCOME_OK);
}

TEST_F(BuilderPoolTest, ACrashFailsItsCandidateAndNoOther) {
  setenv("HONE_BUILDER_FAULT", "crash:3", 1);
  BuilderPool pool(Options());
  v1::BuildBatch batch;
  for (uint64_t id = 1; id <= 5; ++id) *batch.add_requests() = candidates_.Default(id);
  const Replies replies = BuildAll(pool, batch);
  for (const uint64_t id : {1, 2, 4, 5}) EXPECT_EQ(OutcomeOf(replies, id), v1::BUILD_OUTCOME_OK);
  EXPECT_EQ(OutcomeOf(replies, 3), v1::BUILD_OUTCOME_BUILD_ERROR);
  EXPECT_THAT(replies.at(3)->message(), testing::HasSubstr("signal 11"));
}

TEST_F(BuilderPoolTest, AHangTimesOutAndTheRestGoesOn) {
  setenv("HONE_BUILDER_FAULT", "hang:2", 1);
  BuilderPool pool(Options());
  v1::BuildBatch batch;
  for (uint64_t id = 1; id <= 4; ++id) *batch.add_requests() = candidates_.Default(id);
  batch.mutable_requests(1)->set_limit_ns(50 * 1000 * 1000);
  const Replies replies = BuildAll(pool, batch);
  EXPECT_EQ(OutcomeOf(replies, 2), v1::BUILD_OUTCOME_BUILD_TIMEOUT);
  EXPECT_THAT(replies.at(2)->message(), testing::HasSubstr("50 ms"));
  for (const uint64_t id : {1, 3, 4}) EXPECT_EQ(OutcomeOf(replies, id), v1::BUILD_OUTCOME_OK);
}

TEST_F(BuilderPoolTest, MissingOrDyingProgramsAreNotTheCandidatesFault) {
  for (const char* program : {"/nonexistent/hone-builder", "/bin/false"}) {
    BuilderPool::Options options = Options();
    options.executable = program;
    BuilderPool pool(options);
    v1::BuildBatch batch;
    *batch.add_requests() = candidates_.Default(1);
    *batch.add_requests() = candidates_.Default(2);
    for (int round = 0; round < 2; ++round) {
      const Replies replies = BuildAll(pool, batch);
      EXPECT_FALSE(replies.at(1).ok());
      EXPECT_FALSE(replies.at(2).ok());
    }
  }
}

TEST_F(BuilderPoolTest, AProgramThatTalksNonsenseOrNotAtAllIsKilled) {
  for (const char* program : {"/usr/bin/yes", "/usr/bin/tail"}) {
    BuilderPool::Options options = Options();
    options.executable = program;
    options.grace_ns = 0;
    BuilderPool pool(options);
    v1::BuildBatch batch;
    *batch.add_requests() = candidates_.Default(1);
    batch.mutable_requests(0)->set_limit_ns(50 * 1000 * 1000);
    EXPECT_FALSE(BuildAll(pool, batch).at(1).ok());
  }
}

// A builder of an older release says nothing before it is asked.
TEST_F(BuilderPoolTest, ABuilderWithoutAHelloIsRefusedInAClearSentence) {
  BuilderPool::Options options = Options();
  options.executable = "/usr/bin/tail";
  options.grace_ns = 0;
  BuilderPool pool(options);
  v1::BuildBatch batch;
  *batch.add_requests() = candidates_.Default(1);
  for (int round = 0; round < 2; ++round) {
    const absl::Status refused = BuildAll(pool, batch).at(1).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_EQ(refused.message(),
              "expected the builder /usr/bin/tail to say first what it can build, found that it "
              "waits to be asked, as one of an older release does; honed and hone-builder must be "
              "of one release");
  }
}

// A builder that says Hello with this toolchain, and then ends.
void WriteBuilder(const std::string& folder, const std::string& toolchain) {
  v1::BuilderHello hello;
  (*hello.mutable_toolchains())["llvm"] = toolchain;
  hello.add_artifact_kinds(v1::ARTIFACT_KIND_ELF);
  const std::string bytes = hello.SerializeAsString();
  std::ofstream(folder + "/hello", std::ios::binary)
      << static_cast<char>(bytes.size()) << std::string(3, 0) << bytes;
}

TEST_F(BuilderPoolTest, ABuilderOfAnotherToolchainThanTheFirstIsRefused) {
  const std::string folder = testing::TempDir() + "/toolchains-" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  BuilderPool::Options options = Options();
  options.executable = folder + "/builder";
  std::ofstream(options.executable) << "#!/bin/sh\ncat " << folder << "/hello\n";
  std::filesystem::permissions(options.executable, std::filesystem::perms::owner_all);
  BuilderPool pool(options);
  v1::BuildBatch batch;
  *batch.add_requests() = candidates_.Default(1);
  WriteBuilder(folder, "one");
  EXPECT_TRUE(absl::IsUnavailable(BuildAll(pool, batch).at(1).status())) << "it has ended";
  WriteBuilder(folder, "two");
  const absl::Status refused = BuildAll(pool, batch).at(1).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              testing::HasSubstr("\"one\", as the first one was, found one of \"two\""));
  std::filesystem::remove_all(folder);
}

int64_t PeakKib(int pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoll(line.substr(6));
  }
  return 0;
}

// The program and the child that builds.
TEST_F(BuilderPoolTest, ABuilderStaysBelow150MiB) {
  auto process = BuilderProcess::Start(HONE_BIN_DIR "/hone-builder");
  ASSERT_TRUE(process.ok());
  const auto first = (*process)->Receive(int64_t{60} * 1000000000);
  ASSERT_TRUE(first.ok() && ParseHello(*first).ok());
  v1::BuildBatch batch;
  for (uint64_t id = 1; id <= 20; ++id) *batch.add_requests() = candidates_.Random(id);
  ASSERT_TRUE((*process)->Send(batch.SerializeAsString()).ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE((*process)->Receive(int64_t{60} * 1000000000).ok());
  const int pid = (*process)->pid();
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid));
  int child = 0;
  ASSERT_TRUE(children >> child);
  for (const int one : {pid, child}) {
    const int64_t kib = PeakKib(one);
    EXPECT_GT(kib, 0);
#ifndef __SANITIZE_ADDRESS__
    EXPECT_LT(kib, 150 << 10);
#endif
  }
}

TEST_F(BuilderPoolTest, SeveralProcessesShareTheBatches) {
  BuilderPool::Options options = Options();
  options.processes = 2;
  BuilderPool pool(options);
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0;
  for (uint64_t id = 1; id <= 4; ++id) {
    v1::BuildBatch batch;
    *batch.add_requests() = candidates_.Random(id);
    pool.Build(batch, [&](uint64_t, absl::StatusOr<v1::BuildReply> reply) {
      const std::lock_guard<std::mutex> lock(mutex);
      EXPECT_TRUE(reply.ok());
      ++done;
      changed.notify_all();
    });
  }
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return done == 4; });
}

TEST_F(BuilderPoolTest, ShuttingDownAnswersWhatIsOpen) {
  setenv("HONE_BUILDER_FAULT", "hang:1", 1);
  int cancelled = 0;
  {
    BuilderPool pool(Options());
    for (uint64_t id = 1; id <= 2; ++id) {
      v1::BuildBatch batch;
      *batch.add_requests() = candidates_.Default(id);
      pool.Build(batch, [&](uint64_t, absl::StatusOr<v1::BuildReply> reply) {
        if (absl::IsCancelled(reply.status())) ++cancelled;
      });
    }
  }
  EXPECT_EQ(cancelled, 2);
}

// ---- one process, faults of our own ----

TEST(BatchRunner, AFreshChildGetsWhatAnOldOneDiedOf) {
  // The child that has built two dies with the third: no candidate is to blame.
  std::map<uint64_t, v1::BuildOutcome> outcomes;
  int built = 0;
  BatchRunner runner(
      [&](const v1::BuildRequest& request) {
        if (++built == 3) abort();
        v1::BuildReply reply;
        reply.set_id(request.id());
        reply.set_outcome(v1::BUILD_OUTCOME_OK);
        return reply;
      },
      [&](const v1::BuildReply& reply) {
        outcomes[reply.id()] = reply.outcome();
        return absl::OkStatus();
      },
      -1);
  v1::BuildBatch batch;
  for (uint64_t id = 1; id <= 5; ++id) batch.add_requests()->set_id(id);
  ASSERT_TRUE(runner.Run(batch).ok());
  EXPECT_EQ(outcomes.size(), 5u);
  for (const auto& [id, outcome] : outcomes) EXPECT_EQ(outcome, v1::BUILD_OUTCOME_OK) << id;
}

TEST(BatchRunner, OneChildServesBatchAfterBatch) {
  int built = 0;  // in the child
  int last = 0;
  BatchRunner runner(
      [&](const v1::BuildRequest& request) {
        v1::BuildReply reply;
        reply.set_id(request.id());
        reply.set_lower_ns(++built);
        return reply;
      },
      [&](const v1::BuildReply& reply) {
        last = static_cast<int>(reply.lower_ns());
        return absl::OkStatus();
      },
      -1);
  v1::BuildBatch batch;
  for (uint64_t id = 1; id <= 3; ++id) batch.add_requests()->set_id(id);
  ASSERT_TRUE(runner.Run(batch).ok());
  ASSERT_TRUE(runner.Run(batch).ok());
  EXPECT_EQ(last, 6);
  EXPECT_EQ(built, 0);
}

TEST(BatchRunner, StopsWhenNobodyReads) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  close(fds[0]);
  BatchRunner runner(
      [](const v1::BuildRequest&) -> v1::BuildReply {
        while (true) pause();
      },
      [](const v1::BuildReply&) { return absl::OkStatus(); }, fds[1]);
  v1::BuildBatch batch;
  batch.add_requests()->set_id(1);
  EXPECT_EQ(runner.Run(batch).code(), absl::StatusCode::kUnavailable);
  close(fds[1]);
}

}  // namespace
}  // namespace hone::tuner
