#include "tuner/jobs/trial_proposer.h"

#include <fmt/format.h>

#include <utility>

#include "support/crash_point.h"

namespace hone::tuner {

using tuning_db::Trial;

void TrialProposer::Propose(std::string_view name, std::vector<Trial> trials, Next next) {
  CrashPoint(fmt::format("tuner.{}.before", name));
  const auto answer = [this, mailbox = mailbox_, name,
                       next = std::move(next)](absl::StatusOr<std::vector<Trial>> rows) {
    mailbox->Post([this, name, next, rows = std::move(rows)] {
      CrashPoint(fmt::format("tuner.{}.after", name));
      next(rows);
    });
  };
  const absl::Status begun =
      loop_.parts.store->ProposeThen(loop_.parts.ownership, std::move(trials), answer);
  if (!begun.ok()) answer(begun);
}

}  // namespace hone::tuner
