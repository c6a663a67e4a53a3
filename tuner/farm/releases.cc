#include "tuner/farm/releases.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "support/crash_point.h"
#include "tuner/farm/store_batch.h"

namespace hone::tuner {

void Releases::Add(int64_t trial, int64_t fence, bool is_strike, std::function<void()> then) {
  const auto [it, is_new] = releasing_.try_emplace(fence);
  if (then) it->second.then.push_back(std::move(then));
  if (!is_new) return;
  it->second.request = {
      .trial = trial, .fence = fence, .is_strike = is_strike, .ownership = ownership_};
  if (std::exchange(will_ask_, true)) return;
  mailbox_->Post([this] { Ask(); });
}

void Releases::Ask() {
  will_ask_ = false;
  std::vector<int64_t> fences;
  for (const auto& [fence, releasing] : releasing_) {
    if (!releasing.is_asked) fences.push_back(fence);
  }
  for (auto first = fences.begin(); first != fences.end();) {
    const auto last = first + std::min<std::ptrdiff_t>(kMostABatch, fences.end() - first);
    if (!AskFor({first, last})) return;
    first = last;
  }
}

bool Releases::AskFor(const std::vector<int64_t>& fences) {
  std::vector<tuning_db::ReleaseRequest> requests;
  for (const int64_t fence : fences) requests.push_back(releasing_.at(fence).request);
  CrashPoint("tuner.release.before");
  const absl::Status begun = store_->ReleaseMany(
      std::move(requests),
      [this, mailbox = mailbox_, fences](const tuning_db::TrialStore::ReleaseAnswers& released) {
        std::vector<absl::Status> answers;
        for (const auto& answer : released) answers.push_back(answer.status());
        mailbox->Post([this, fences, answers = std::move(answers)] { OnAnswers(fences, answers); });
      });
  CrashPoint("tuner.release.after");
  if (!begun.ok()) {
    spdlog::warn("{} leases are released at the next tick: {}", fences.size(), begun.ToString());
    return false;
  }
  for (const int64_t fence : fences) releasing_.at(fence).is_asked = true;
  return true;
}

void Releases::OnAnswers(const std::vector<int64_t>& fences,
                         const std::vector<absl::Status>& answers) {
  for (size_t i = 0; i < fences.size(); ++i) {
    const absl::Status& answer = answers.at(i);
    const auto it = releasing_.find(fences[i]);
    const bool is_over =
        absl::IsFailedPrecondition(answer) || absl::IsAborted(answer) || absl::IsNotFound(answer);
    if (is_over) spdlog::info("fence {} was over before its release", fences[i]);
    if (!answer.ok() && !is_over) {
      spdlog::warn("releasing fence {}: {}", fences[i], answer.ToString());
      it->second.is_asked = false;
      continue;
    }
    const std::vector<std::function<void()>> all = std::move(it->second.then);
    releasing_.erase(it);
    for (const std::function<void()>& then : all) then();
  }
  on_answered_();
}

}  // namespace hone::tuner
