// Invariants of what is settled, and of jobs.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "tests/farm_simulator/checker.h"

namespace hone::sim {

using tuning_db::JobState;
using tuning_db::Outcome;
using tuning_db::Record;
using tuning_db::SettleResult;

namespace {

bool IsSettling(const Event& event) {
  return event.what == What::kSettle &&
         event.number == static_cast<int64_t>(SettleResult::kSettled);
}

double SampleOf(const Record& record) {
  return record.samples_ns.empty() ? 0 : record.samples_ns[0];
}

const Record* FindRecord(const EndState& end, int64_t trial) {
  const auto it = std::find_if(end.records.begin(), end.records.end(),
                               [&](const Record& record) { return record.trial == trial; });
  return it == end.records.end() ? nullptr : &*it;
}

}  // namespace

std::vector<Violation> CheckSettleOnce(const Evidence& evidence) {
  std::vector<Violation> found;
  std::map<int64_t, size_t> settled;  // where, by trial
  for (size_t i = 0; i < evidence.history.size(); ++i) {
    const Event& event = evidence.history[i];
    if (!IsSettling(event)) continue;
    if (!settled.emplace(event.trial, i).second) {
      found.push_back({"", i, fmt::format("trial {} is settled a second time", event.trial)});
    }
  }
  const size_t end = evidence.history.size();
  std::set<int64_t> recorded;
  for (const Record& record : evidence.end.records) {
    if (!recorded.insert(record.trial).second) {
      found.push_back({"", end, fmt::format("trial {} has two records", record.trial)});
    }
    const auto it = settled.find(record.trial);
    if (it == settled.end()) continue;
    const Event& event = evidence.history[it->second];
    if (event.text != Name(record.outcome) || event.echo.sample_ns != SampleOf(record)) {
      found.push_back({"", it->second,
                       fmt::format("the record of trial {} changed after it was settled: {} {} is "
                                   "now {} {}",
                                   record.trial, event.text, event.echo.sample_ns,
                                   Name(record.outcome), SampleOf(record))});
    }
  }
  // Once is not never either.
  for (const tuning_db::Trial& trial : evidence.end.open) {
    const auto job =
        std::find_if(evidence.end.jobs.begin(), evidence.end.jobs.end(),
                     [&](const tuning_db::Job& candidate) { return candidate.id == trial.job; });
    const bool is_done = job != evidence.end.jobs.end() && job->state == JobState::kDone;
    if (!is_done || !job->message.empty()) continue;
    found.push_back(
        {"", end,
         fmt::format("trial {} is not settled, and its job {} is done", trial.id, trial.job)});
  }
  return found;
}

std::vector<Violation> CheckNewestFence(const Evidence& evidence) {
  std::vector<Violation> found;
  std::map<int64_t, int64_t> newest;  // by trial; 0: released
  for (size_t i = 0; i < evidence.history.size(); ++i) {
    const Event& event = evidence.history[i];
    if (event.what == What::kLease) newest[event.trial] = event.fence;
    if (event.what == What::kRelease && newest[event.trial] == event.fence) newest[event.trial] = 0;
    if (IsSettling(event) && newest[event.trial] != event.fence) {
      found.push_back({"", i,
                       fmt::format("trial {} is settled under fence {}, its newest lease is {}",
                                   event.trial, event.fence, newest[event.trial])});
    }
  }
  return found;
}

// An acknowledgement of a result that lies, or of one that says that the device was lost, promises
// nothing.
std::vector<Violation> CheckAcknowledgedKept(const Evidence& evidence) {
  std::vector<Violation> found;
  std::map<std::pair<std::string, int64_t>, size_t> honest;  // by worker and fence
  for (size_t i = 0; i < evidence.history.size(); ++i) {
    const Event& event = evidence.history[i];
    if (event.what == What::kRunEnd && event.text == kHonest) {
      honest[{event.worker, event.fence}] = i;
    }
    if (event.what != What::kAcknowledge) continue;
    const auto it = honest.find({event.worker, event.fence});
    if (it == honest.end()) continue;
    const Event& run = evidence.history[it->second];
    const Record* const record = FindRecord(evidence.end, run.trial);
    if (record == nullptr || record->of_trial.fence != event.fence) {
      found.push_back({"", i,
                       fmt::format("the result under fence {} was acknowledged and is not in the "
                                   "store",
                                   event.fence)});
    } else if (SampleOf(*record) != run.echo.sample_ns) {
      found.push_back({"", i,
                       fmt::format("the result under fence {} was acknowledged with the time {}, "
                                   "the store has {}",
                                   event.fence, run.echo.sample_ns, SampleOf(*record))});
    }
  }
  return found;
}

namespace {

// Empty, or the first thing that was stored and does not fit what was assigned.
std::string Difference(const Event& settle, const Event& offer) {
  const auto differs = [](std::string_view what, const std::string& stored,
                          const std::string& assigned) {
    return fmt::format("the {} '{}' is stored where '{}' was assigned", what, stored, assigned);
  };
  const Echo& stored = settle.echo;
  const Echo& assigned = offer.echo;
  if (settle.worker != offer.worker) return differs("worker", settle.worker, offer.worker);
  if (settle.trial != offer.trial) {
    return differs("trial", std::to_string(settle.trial), std::to_string(offer.trial));
  }
  for (const std::string& artifact : stored.artifacts) {
    const auto& known = assigned.artifacts;
    if (std::find(known.begin(), known.end(), artifact) == known.end()) {
      return differs("artifact", artifact, fmt::format("{}", fmt::join(known, " ")));
    }
  }
  if (stored.toolchain != assigned.toolchain) {
    return differs("toolchain", stored.toolchain, assigned.toolchain);
  }
  if (stored.regime != assigned.regime) return differs("regime", stored.regime, assigned.regime);
  if (stored.fingerprint != assigned.fingerprint) {
    return differs("fingerprint", stored.fingerprint, assigned.fingerprint);
  }
  return "";
}

}  // namespace

std::vector<Violation> CheckEchoes(const Evidence& evidence) {
  std::vector<Violation> found;
  std::map<int64_t, size_t> offers;  // by fence
  std::map<int64_t, size_t> begins;
  for (size_t i = 0; i < evidence.history.size(); ++i) {
    const Event& event = evidence.history[i];
    if (event.what == What::kOffer) offers[event.fence] = i;
    if (event.what == What::kRunBegin) begins[event.fence] = i;
    // A daemon settles failures itself, as nobody.
    if (!IsSettling(event) || event.worker.empty()) continue;
    const auto offer = offers.find(event.fence);
    if (offer == offers.end()) {
      found.push_back({"", i, fmt::format("fence {} was never offered", event.fence)});
      continue;
    }
    const std::string difference = Difference(event, evidence.history[offer->second]);
    if (!difference.empty()) found.push_back({"", i, difference});
    const auto begin = begins.find(event.fence);
    const double most_ns =
        begin == begins.end()
            ? 0
            : static_cast<double>(event.at_ns - evidence.history[begin->second].at_ns);
    const double sample_ns = event.echo.sample_ns;
    if (!(sample_ns >= 0) || sample_ns > most_ns) {
      found.push_back({"", i,
                       fmt::format("a time of {} ns is stored of a lease that has run for {} ns",
                                   sample_ns, most_ns)});
    }
  }
  return found;
}

namespace {

// Fences that ran, by trial. A worker of protocol 2 does not say what it runs: of a device of one
// the oldest lease counts as running (docs/protocol.md, Versions).
class Began {
 public:
  void Take(const Event& event) {
    switch (event.what) {
      case What::kWelcome:
        protocols_[event.stream] = event.number;
        break;
      case What::kRunBegin:
        began_[event.trial].insert(event.fence);
        break;
      case What::kLease:
        if (trials_.count(event.trial) > 0) End(trials_[event.trial]);
        trials_[event.trial] = event.fence;
        break;
      case What::kOffer:
        if (protocols_[event.stream] == 2) {
          const Device device = {event.worker, event.device};
          waiting_[device].push_back({event.trial, event.fence});
          BeginOldest(device);
        }
        break;
      case What::kRelease:
      case What::kSettle:
      case What::kRevoke:
        End(event.fence);
        break;
      default:
        break;
    }
  }

  size_t TimesOf(int64_t trial) { return began_[trial].size(); }
  bool Has(int64_t trial, int64_t fence) { return began_[trial].count(fence) > 0; }

 private:
  using Device = std::pair<std::string, std::string>;  // worker and id
  using Offered = std::pair<int64_t, int64_t>;         // trial and fence

  void End(int64_t fence) {
    for (auto& [device, offered] : waiting_) {
      const auto is_it = [&](const Offered& other) { return other.second == fence; };
      if (std::erase_if(offered, is_it) > 0) BeginOldest(device);
    }
  }
  void BeginOldest(const Device& device) {
    const std::deque<Offered>& offered = waiting_[device];
    if (!offered.empty()) began_[offered.front().first].insert(offered.front().second);
  }

  std::map<int64_t, int64_t> protocols_;  // by stream
  std::map<int64_t, int64_t> trials_;     // newest fence
  std::map<Device, std::deque<Offered>> waiting_;
  std::map<int64_t, std::set<int64_t>> began_;
};

}  // namespace

std::vector<Violation> CheckNoBlameWaiting(const Evidence& evidence) {
  std::vector<Violation> found;
  Began began;
  for (size_t i = 0; i < evidence.history.size(); ++i) {
    const Event& event = evidence.history[i];
    began.Take(event);
    if (event.what == What::kRelease && event.number == 1 && !began.Has(event.trial, event.fence)) {
      found.push_back({"", i,
                       fmt::format("trial {} is struck for fence {}, which never ran", event.trial,
                                   event.fence)});
    }
    if (!IsSettling(event) || event.text != Name(Outcome::kDeviceLost)) continue;
    const size_t ran = began.TimesOf(event.trial);
    if (ran < static_cast<size_t>(evidence.bars.poison_limit)) {
      found.push_back(
          {"", i,
           fmt::format("trial {} is given up as one that takes workers down, and ran {} "
                       "times",
                       event.trial, ran)});
    }
  }
  return found;
}

std::vector<Violation> CheckBudgets(const Evidence& evidence) {
  std::vector<Violation> found;
  const size_t end = evidence.history.size();
  using Key = std::pair<int64_t, std::string>;
  std::map<Key, int64_t> settled;
  for (const Record& record : evidence.end.records) {
    if (!IsProposed(record.of_trial.purpose) || record.outcome == Outcome::kCancelled) continue;
    ++settled[{record.of_trial.task, record.of_trial.signature}];
  }
  std::map<Key, int64_t> budgets;
  for (const tuning_db::Job& job : evidence.end.jobs) {
    for (const tuning_db::JobTask& task : job.tasks) {
      int64_t& budget = budgets[{task.task, task.signature}];
      budget = std::max(budget, task.trials);
      const int64_t count = settled[{task.task, task.signature}];
      if (job.state == JobState::kDone && job.message.empty() && count < task.trials) {
        found.push_back({"", end,
                         fmt::format("job {} is done with {} of {} trials of task {}, and does not "
                                     "say why",
                                     job.id, count, task.trials, task.task)});
      }
    }
  }
  for (const auto& [key, count] : settled) {
    if (count <= budgets[key]) continue;
    found.push_back({"", end,
                     fmt::format("task {} has {} settled trials, its budget is {}", key.first,
                                 count, budgets[key])});
  }
  return found;
}

std::vector<Violation> CheckJobsEnd(const Evidence& evidence) {
  std::vector<Violation> found;
  const size_t end = evidence.history.size();
  for (const tuning_db::Job& job : evidence.end.jobs) {
    if (!HasEnded(job.state)) {
      found.push_back(
          {"", end, fmt::format("job {} is {} when all is over", job.id, Name(job.state))});
      continue;
    }
    const auto it = evidence.end.job_events.find(job.id);
    const bool has_events = it != evidence.end.job_events.end() && !it->second.empty();
    const std::string last =
        has_events ? it->second.back().kind + " " + it->second.back().payload : "none";
    if (last.rfind("state ", 0) != 0 || last.find(Name(job.state)) == std::string::npos) {
      found.push_back({"", end,
                       fmt::format("job {} has ended ({}), its last event is {}", job.id,
                                   Name(job.state), last)});
    }
  }
  return found;
}

}  // namespace hone::sim
