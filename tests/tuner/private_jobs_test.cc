// Whose jobs a daemon works off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/clock.h"
#include "tests/tuner/world.h"

namespace hone::tuner {
namespace {

using ::testing::IsEmpty;
using tuning_db::HasEnded;
using tuning_db::JobState;
using tuning_db::Outcome;
using tuning_db::Purpose;

// Until a trial of the job is leased, and others are proposed.
void RunHalfway(World& world) {
  FakeWorker& worker = world.AddWorker("w1");
  while (worker.sent.size() < 5) ASSERT_TRUE(world.Step());
  worker.Disconnect(true);
  ASSERT_FALSE(world.store->OpenTrials(0)->empty());
}

TEST(PrivateJobs, OfAClientThatHasEndedAreCancelledByTheNextDaemonOfAnyKind) {
  for (const bool is_private : {false, true}) {
    World world;
    world.Drain();  // a daemon takes up what is there before it serves anybody
    const int64_t job = world.Submit({.is_private = true});
    RunHalfway(world);
    world.is_private = is_private;
    world.Restart();
    EXPECT_EQ(world.GetJob(job).state, JobState::kCancelled);
    EXPECT_EQ(world.GetJob(job).message, "its hone tune has ended");
    EXPECT_THAT(world.store->OpenTrials(0).value(), IsEmpty());
    world.AddWorker("w2");
    const size_t settled = world.store->Records({}).value().size();
    world.Run();
    EXPECT_EQ(world.store->Records({}).value().size(), settled) << "nothing is worked off";
  }
}

TEST(PrivateJobs, APrivateDaemonLeavesAServicesJobsToTheService) {
  World world;
  const int64_t job = world.Submit({.workloads = {"conv", "dense"}});
  RunHalfway(world);
  const size_t open = world.store->OpenTrials(0)->size();
  const size_t settled = world.store->Records({})->size();
  world.is_private = true;
  world.Restart();
  world.AddWorker("w2");
  world.Wait(10 * kSecondNs);
  EXPECT_FALSE(HasEnded(world.GetJob(job).state));
  EXPECT_EQ(world.store->OpenTrials(0)->size(), open);
  EXPECT_EQ(world.store->Records({})->size(), settled);

  world.is_private = false;
  world.Restart();
  world.Wait(10 * kSecondNs);
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 80u);
}

TEST(PrivateJobs, APrivateJobTakesOverOpenTrialsOfItsTaskAndNoOthers) {
  World world;
  const int64_t service = world.Submit({.client_id = "s", .workloads = {"conv", "dense"}});
  RunHalfway(world);
  world.is_private = true;
  world.Restart();
  world.AddWorker("w2");
  const int64_t own = world.Submit({.client_id = "p", .workloads = {"conv"}, .is_private = true});
  world.Wait(60 * kSecondNs);  // the grace of what w1 holds is over
  EXPECT_EQ(world.GetJob(own).state, JobState::kDone);
  EXPECT_FALSE(HasEnded(world.GetJob(service).state));
  const auto open = world.store->OpenTrials(0).value();
  EXPECT_FALSE(open.empty()) << "of dense";
  for (const tuning_db::Trial& trial : open) EXPECT_NE(trial.task, world.GetJob(own).tasks[0].task);

  world.is_private = false;
  world.Restart();
  world.Wait(10 * kSecondNs);
  EXPECT_EQ(world.GetJob(service).state, JobState::kDone);
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 80u) << "shared, and none twice";
}

}  // namespace
}  // namespace hone::tuner
