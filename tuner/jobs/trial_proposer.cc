#include "tuner/jobs/trial_proposer.h"

#include <fmt/format.h>

#include <utility>

#include "support/crash_point.h"
#include "tuner/store_error.h"

namespace hone::tuner {

void TrialProposer::Propose(std::string_view name, Rows trials, Next next) {
  CrashPoint(fmt::format("tuner.{}.before", name));
  const auto answer = [this, mailbox = mailbox_, name, trials,
                       next = std::move(next)](const absl::StatusOr<Rows>& rows) {
    mailbox->Post([this, name, trials, next, rows] { OnAnswer(name, trials, next, rows); });
  };
  const absl::Status begun = loop_.parts.store->ProposeThen(loop_.parts.ownership, trials, answer);
  if (!begun.ok()) answer(begun);
}

void TrialProposer::OnAnswer(std::string_view name, const Rows& trials, const Next& next,
                             const absl::StatusOr<Rows>& rows) {
  CrashPoint(fmt::format("tuner.{}.after", name));
  if (!Passes(rows.status())) return next(rows);
  loop_.Failed(rows.status(), [=, this] { Propose(name, trials, next); });
}

}  // namespace hone::tuner
