// Each invariant on a few lines of history: one that keeps it, and one that does not.
#include "tests/farm_simulator/checker.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace hone::sim {
namespace {

using tuning_db::JobState;
using tuning_db::Outcome;

constexpr int64_t kLimit = 10 * kSecond;

// Names of the invariants that the history violates, each once.
std::vector<std::string> Violated(const History& history, const EndState& end = {}) {
  std::vector<std::string> names;
  for (const Violation& violation : CheckAll({history, end})) {
    if (names.empty() || names.back() != violation.invariant) {
      names.emplace_back(violation.invariant);
    }
  }
  return names;
}

using Names = std::vector<std::string>;

Event Lease(int64_t at_ns, int64_t trial, int64_t fence, const std::string& worker = "w") {
  return {.at_ns = at_ns, .what = What::kLease, .trial = trial, .fence = fence, .worker = worker};
}

Event Offer(int64_t at_ns, int64_t trial, int64_t fence, const std::string& device = "d0") {
  Event event{.at_ns = at_ns, .what = What::kOffer, .trial = trial, .fence = fence};
  event.stream = 1;
  event.worker = "w";
  event.device = device;
  event.number = kLimit;
  event.echo = {{"artifact"}, "gcc", "warm", "machine", 0};
  return event;
}

Event OfRun(What what, int64_t at_ns, int64_t trial, int64_t fence,
            const std::string& device = "d0") {
  Event event{.at_ns = at_ns, .what = what, .trial = trial, .fence = fence};
  event.worker = "w";
  event.device = device;
  event.text = what == What::kRunEnd ? kHonest : "instance";
  event.resources = {"cores"};
  event.echo.sample_ns = 100;
  return event;
}

Event Settle(int64_t at_ns, int64_t trial, int64_t fence) {
  Event event{.at_ns = at_ns, .what = What::kSettle, .trial = trial, .fence = fence};
  event.worker = "w";
  event.text = "ok";
  event.echo = {{"artifact"}, "gcc", "warm", "machine", 100};
  return event;
}

Event Acknowledge(int64_t at_ns, int64_t fence) {
  return {.at_ns = at_ns, .what = What::kAcknowledge, .fence = fence, .stream = 1, .worker = "w"};
}

Event Credit(int64_t count, const std::string& device = "d0") {
  return {.what = What::kCredit, .stream = 1, .worker = "w", .device = device, .number = count};
}

EndState Stored(int64_t trial, int64_t fence, double sample_ns = 100) {
  tuning_db::Record record;
  record.trial = trial;
  record.samples_ns = {sample_ns};
  record.of_trial.id = trial;
  record.of_trial.fence = fence;
  record.of_trial.purpose = tuning_db::Purpose::kConfirm;  // of no budget
  EndState end;
  end.records = {record};
  return end;
}

// A trial from its lease to its acknowledgement.
const History kSound = {Credit(2),
                        Lease(1, 1, 1),
                        Offer(2, 1, 1),
                        OfRun(What::kRunBegin, 1000, 1, 1),
                        OfRun(What::kRunEnd, 2000, 1, 1),
                        Settle(3000, 1, 1),
                        Acknowledge(4000, 1)};

TEST(Checker, FindsNothingInASoundHistory) { EXPECT_EQ(Violated(kSound, Stored(1, 1)), Names{}); }

TEST(Checker, SettleOnce) {
  History twice = kSound;
  twice.push_back(Settle(5000, 1, 1));
  EXPECT_EQ(Violated(twice, Stored(1, 1)), Names{"settle-once"});
  EndState end = Stored(1, 1);
  end.records.push_back(end.records[0]);
  EXPECT_EQ(Violated(kSound, end), Names{"settle-once"});
  end.records.pop_back();
  end.jobs.resize(1);
  end.jobs[0].id = 1;
  end.jobs[0].state = JobState::kDone;
  end.job_events[1] = {{1, 1, "state", R"({"state":"done"})", 0}};
  EXPECT_EQ(Violated(kSound, end), Names{});
  end.open.resize(1);
  end.open[0].job = 1;
  EXPECT_EQ(Violated(kSound, end), Names{"settle-once"}) << "never";
}

TEST(Checker, AcknowledgedKept) {
  EXPECT_EQ(Violated(kSound), Names{"acknowledged-kept"});
  EXPECT_EQ(Violated(kSound, Stored(1, 7)), Names{"acknowledged-kept"}) << "of another lease";
  EXPECT_EQ(Violated(kSound, Stored(1, 1, 99)), (Names{"settle-once", "acknowledged-kept"}));
}

TEST(Checker, FenceGrows) {
  EXPECT_EQ(Violated({Lease(1, 1, 2), Lease(2, 2, 3)}), Names{});
  EXPECT_EQ(Violated({Lease(1, 1, 2), Lease(2, 2, 2)}), Names{"fence-grows"});
}

TEST(Checker, NewestFence) {
  History late = kSound;
  late.insert(late.begin() + 5, Lease(2500, 1, 2));
  EXPECT_EQ(Violated(late, Stored(1, 1)), Names{"newest-fence"});
  History released = kSound;
  released.insert(released.begin() + 5,
                  {.at_ns = 2500, .what = What::kRelease, .trial = 1, .fence = 1});
  EXPECT_EQ(Violated(released, Stored(1, 1)), Names{"newest-fence"});
}

TEST(Checker, CommitFirst) {
  EXPECT_EQ(Violated({Credit(1), Offer(1, 1, 1)}), Names{"commit-first"});
  EXPECT_EQ(Violated({Credit(1), Lease(1, 1, 1, "another"), Offer(2, 1, 1)}),
            Names{"commit-first"});
  History early = kSound;
  std::swap(early[5], early[6]);
  EXPECT_EQ(Violated(early, Stored(1, 1)), Names{"commit-first"});
}

TEST(Checker, WindowKeptOfProtocol2) {
  const History two = {Lease(1, 1, 1), Lease(1, 2, 2), Offer(2, 1, 1), Offer(2, 2, 2)};
  History enough = {Credit(2)};
  History too_few = {Credit(1)};
  enough.insert(enough.end(), two.begin(), two.end());
  too_few.insert(too_few.end(), two.begin(), two.end());
  EXPECT_EQ(Violated(enough), Names{});
  EXPECT_EQ(Violated(too_few), Names{"window-kept"});
}

TEST(Checker, WindowKeptOfProtocol3) {
  const Event window{
      .what = What::kWindow, .stream = 1, .worker = "w", .device = "d0", .number = 1};
  History history = {{.what = What::kHello, .stream = 1, .worker = "w"},
                     {.what = What::kWelcome, .stream = 1, .worker = "w", .number = 3},
                     window,
                     window,  // sent again it means the same
                     Lease(1, 1, 1),
                     Offer(2, 1, 1),
                     OfRun(What::kRunBegin, 3, 1, 1),
                     Settle(1000, 1, 1),
                     Lease(1001, 2, 2),
                     Offer(1002, 2, 2)};
  EXPECT_EQ(Violated(history), Names{});
  history.push_back(Lease(1003, 3, 3));
  history.push_back(Offer(1004, 3, 3));
  EXPECT_EQ(Violated(history), Names{"window-kept"});
}

TEST(Checker, OneAResource) {
  History history = {OfRun(What::kRunBegin, 1, 1, 1), OfRun(What::kRunEnd, 2, 1, 1),
                     OfRun(What::kRunBegin, 3, 2, 2, "d1")};
  EXPECT_EQ(Violated(history), Names{});
  history.push_back(OfRun(What::kRunBegin, 4, 3, 3));
  EXPECT_EQ(Violated(history), Names{"one-a-resource"});
}

TEST(Checker, LeaseEnds) {
  const Bars bars;
  const int64_t most = kLimit + bars.overdue_ns;
  const auto released_at = [](int64_t at_ns) {
    return Event{.at_ns = at_ns, .what = What::kRelease, .trial = 1, .fence = 1};
  };
  const History leased = {Credit(1), Lease(1, 1, 1), Offer(1, 1, 1)};
  History in_time = leased;
  in_time.push_back(released_at(most));
  EXPECT_EQ(Violated(in_time), Names{});
  History late = leased;
  late.push_back(released_at(most + 2));
  EXPECT_EQ(Violated(late), Names{"lease-ends"});
  History never = leased;
  never.push_back(Lease(most + 2, 2, 2));
  EXPECT_EQ(Violated(never), Names{"lease-ends"});
  History graced = leased;
  graced.push_back({.at_ns = 2, .what = What::kStreamEnd, .stream = 1, .worker = "w"});
  graced.push_back(released_at(most + bars.grace_ns));
  EXPECT_EQ(Violated(graced), Names{});
}

// The daemon is told what a device runs, and knows nothing else of it.
TEST(Checker, TheTimeOfALeaseRunsFromWhatTheDaemonWasTold) {
  const Bars bars;
  const auto told = [](int64_t at_ns, int64_t fence, int64_t for_ns) {
    return Event{.at_ns = at_ns,
                 .what = What::kRunning,
                 .fence = fence,
                 .stream = 1,
                 .worker = "w",
                 .device = "d0",
                 .number = for_ns};
  };
  const auto released_at = [](int64_t at_ns) {
    return Event{.at_ns = at_ns, .what = What::kRelease, .trial = 1, .fence = 1};
  };
  const History leased = {
      {.what = What::kWelcome, .stream = 1, .worker = "w", .number = 3},
      {.what = What::kWindow, .stream = 1, .worker = "w", .device = "d0", .number = 1},
      Lease(1, 1, 1),
      Offer(1, 1, 1)};
  const auto ends = [&](const std::vector<Event>& words, int64_t at_ns) {
    History history = leased;
    history.insert(history.end(), words.begin(), words.end());
    history.push_back(released_at(at_ns));
    return Violated(history);
  };
  const int64_t more = kLimit + bars.overdue_ns;
  EXPECT_EQ(ends({told(100, 1, 50)}, 50 + more), Names{});
  EXPECT_EQ(ends({told(100, 1, 50)}, 51 + more), Names{"lease-ends"});
  EXPECT_EQ(ends({told(100, 1, 50), told(200, 1, 0), told(300, 0, 0)}, 51 + more),
            Names{"lease-ends"})
      << "saying less later buys no time, nor does stopping";
  EXPECT_EQ(ends({told(2 + kLimit, 1, 0)}, 2 + more), Names{"lease-ends"}) << "begun too late";
}

TEST(Checker, BudgetExactAndJobEnds) {
  EndState end = Stored(1, 1);
  end.records[0].of_trial.purpose = tuning_db::Purpose::kSearch;
  end.records[0].of_trial.task = 1;
  tuning_db::Job job;
  job.id = 1;
  job.state = JobState::kDone;
  job.tasks.resize(1);
  job.tasks[0].task = 1;
  job.tasks[0].trials = 1;
  end.jobs = {job};
  end.job_events[1] = {{1, 1, "state", R"({"state":"done"})", 0}};
  EXPECT_EQ(Violated(kSound, end), Names{});
  end.jobs[0].tasks[0].trials = 2;
  EXPECT_EQ(Violated(kSound, end), Names{"budget-exact"}) << "too few";
  end.jobs[0].tasks[0].trials = 0;
  EXPECT_EQ(Violated(kSound, end), Names{"budget-exact"}) << "too many";
  end.jobs[0].tasks[0].trials = 1;
  end.job_events[1].push_back({1, 2, "trial_settled", "{}", 0});
  EXPECT_EQ(Violated(kSound, end), Names{"job-ends"});
  end.jobs[0].state = JobState::kRunning;
  EXPECT_EQ(Violated(kSound, end), Names{"job-ends"});
}

TEST(Checker, NoBlameWaiting) {
  const auto struck = [](bool ran) {
    History history = {Lease(1, 1, 1)};
    if (ran) history.push_back(OfRun(What::kRunBegin, 2, 1, 1));
    history.push_back({.at_ns = 3, .what = What::kRelease, .trial = 1, .fence = 1, .number = 1});
    return history;
  };
  EXPECT_EQ(Violated(struck(true)), Names{});
  EXPECT_EQ(Violated(struck(false)), Names{"no-blame-waiting"});
  History of_protocol_2 = struck(false);
  of_protocol_2.insert(of_protocol_2.begin() + 1,
                       {{.at_ns = 1, .what = What::kWelcome, .worker = "w", .number = 2},
                        {.at_ns = 1, .what = What::kCredit, .worker = "w", .number = 1},
                        {.at_ns = 2, .what = What::kOffer, .trial = 1, .fence = 1, .worker = "w"}});
  EXPECT_EQ(Violated(of_protocol_2), Names{});
  Event given_up = Settle(4, 1, 2);
  given_up.worker = "";
  given_up.text = Name(Outcome::kDeviceLost);
  History history = struck(true);
  history.push_back(Lease(4, 1, 2, ""));
  history.push_back(given_up);
  EXPECT_EQ(Violated(history), Names{"no-blame-waiting"}) << "it ran once only";
}

TEST(Checker, EchoChecked) {
  const auto with = [](auto change) {
    History history = kSound;
    change(history[5]);
    return Violated(history, Stored(1, 1, history[5].echo.sample_ns));
  };
  EXPECT_EQ(with([](Event& e) {}), Names{});
  EXPECT_EQ(with([](Event& e) { e.echo.artifacts = {"other"}; }), Names{"echo-checked"});
  EXPECT_EQ(with([](Event& e) { e.echo.toolchain = "other"; }), Names{"echo-checked"});
  EXPECT_EQ(with([](Event& e) { e.echo.regime = "other"; }), Names{"echo-checked"});
  EXPECT_EQ(with([](Event& e) { e.echo.fingerprint = "other"; }), Names{"echo-checked"});
  EXPECT_EQ(with([](Event& e) { e.worker = "other"; }), Names{"echo-checked"});
  EXPECT_EQ(with([](Event& e) { e.echo.sample_ns = 1e9; }),
            (Names{"acknowledged-kept", "echo-checked"}));
}

}  // namespace
}  // namespace hone::sim
