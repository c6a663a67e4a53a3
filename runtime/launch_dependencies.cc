#include "runtime/launch_dependencies.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "runtime/sequence_walk.h"

namespace hone {
namespace {

bool IsWritten(const hone_buffer& buffer, const hone_launch& launch) {
  switch (buffer.role) {
    case HONE_ROLE_INPUT:
    case HONE_ROLE_CONSTANT:
      return false;
    case HONE_ROLE_PREPARED:
      return launch.phase == HONE_PHASE_PREPARE;
    default:
      return true;
  }
}

std::vector<MemoryAccess> AccessesOf(const SequenceStep& step, void* const* addresses) {
  std::vector<MemoryAccess> accesses;
  for (uint32_t a = 0; a < step.device_launch->argument_count; ++a) {
    const uint32_t argument = step.device_launch->arguments[a];
    const hone_buffer& buffer = step.buffers[argument];
    const auto begin = reinterpret_cast<uintptr_t>(addresses[argument]);
    accesses.push_back({begin, begin + buffer.size_bytes, IsWritten(buffer, *step.launch)});
  }
  return accesses;
}

}  // namespace

std::vector<size_t> AccessHistory::Add(const std::vector<MemoryAccess>& accesses) {
  now_ = waits_for_.size();
  marks_.push_back(kNone);
  std::vector<size_t> conflicts;
  for (const MemoryAccess& access : accesses) {
    if (access.begin < access.end) CollectConflicts(access, &conflicts);
  }
  waits_for_.push_back(Reduce(std::move(conflicts)));
  for (const MemoryAccess& access : accesses) {
    if (access.begin < access.end && !access.writes) Read(access);
  }
  for (const MemoryAccess& access : accesses) {
    if (access.begin < access.end && access.writes) Write(access);
  }
  return waits_for_.back();
}

void AccessHistory::SplitAt(uintptr_t address) {
  const auto next = ranges_.lower_bound(address);
  if (next == ranges_.begin()) return;
  const auto before = std::prev(next);
  if (before->second.end <= address) return;
  const Range upper = before->second;
  before->second.end = address;
  ranges_.emplace_hint(next, address, upper);
}

void AccessHistory::Cover(uintptr_t begin, uintptr_t end) {
  SplitAt(begin);
  SplitAt(end);
  auto next = ranges_.lower_bound(begin);
  while (begin < end) {
    const uintptr_t gap_end = next == ranges_.end() ? end : std::min(end, next->first);
    if (begin < gap_end) ranges_.emplace_hint(next, begin, Range{gap_end, kNone, kNone});
    if (next == ranges_.end()) return;
    begin = next->second.end;
    ++next;
  }
}

void AccessHistory::CollectConflicts(const MemoryAccess& access, std::vector<size_t>* conflicts) {
  SplitAt(access.begin);
  SplitAt(access.end);
  auto range = ranges_.lower_bound(access.begin);
  for (; range != ranges_.end() && range->first < access.end; ++range) {
    const Range& used = range->second;
    // The readers wait for the writer.
    if (used.writer != kNone && (!access.writes || used.readers == kNone)) {
      conflicts->push_back(used.writer);
    }
    if (!access.writes) continue;
    for (size_t r = used.readers; r != kNone && seen_[r] != now_; r = readers_[r].next) {
      seen_[r] = now_;
      conflicts->push_back(readers_[r].launch);
    }
  }
}

std::vector<size_t> AccessHistory::Reduce(std::vector<size_t> conflicts) {
  std::sort(conflicts.begin(), conflicts.end(), std::greater<>());
  conflicts.erase(std::unique(conflicts.begin(), conflicts.end()), conflicts.end());
  std::vector<size_t> kept;
  std::vector<size_t> to_visit;
  size_t looked_at = 0;
  // An earlier launch never waits for a later one, so the latest conflicts are kept first.
  for (const size_t conflict : conflicts) {
    if (IsBefore(conflict)) continue;
    kept.push_back(conflict);
    marks_[conflict] = now_;
    to_visit.push_back(conflict);
    while (!to_visit.empty() && looked_at < most_looked_at_) {
      const size_t launch = to_visit.back();
      to_visit.pop_back();
      for (const size_t before : waits_for_[launch]) {
        ++looked_at;
        // What comes before all conflicts leads to none of them.
        if (before < conflicts.back() || IsBefore(before)) continue;
        marks_[before] = now_;
        to_visit.push_back(before);
      }
    }
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

void AccessHistory::Read(const MemoryAccess& access) {
  Cover(access.begin, access.end);
  auto range = ranges_.lower_bound(access.begin);
  std::map<size_t, size_t> extended;  // lists that several of the ranges share, with their new head
  for (; range != ranges_.end() && range->first < access.end; ++range) {
    size_t& head = range->second.readers;
    const auto known = extended.find(head);
    if (known != extended.end()) {
      head = known->second;
      continue;
    }
    if (head != kNone && readers_[head].launch == now_) continue;
    // Whoever waits for this launch need not wait for those that it waits for itself.
    size_t rest = head;
    while (rest != kNone && IsBefore(readers_[rest].launch)) rest = readers_[rest].next;
    const size_t made = readers_.size();
    readers_.push_back({now_, rest});
    seen_.push_back(kNone);
    extended.emplace(head, made);
    head = made;
  }
}

void AccessHistory::Write(const MemoryAccess& access) {
  SplitAt(access.begin);
  SplitAt(access.end);
  const auto first = ranges_.lower_bound(access.begin);
  const auto end = ranges_.lower_bound(access.end);
  ranges_.emplace_hint(ranges_.erase(first, end), access.begin, Range{access.end, now_, kNone});
}

std::vector<std::vector<size_t>> LaunchDependencies(const SequencePlan& plan) {
  AccessHistory history;
  std::vector<std::vector<size_t>> dependencies;
  WalkSteps(plan, [&](const StepVisit& visit) {
    const SequenceStep& step = plan.steps[visit.step];
    dependencies.push_back(history.Add(AccessesOf(step, visit.addresses)));
    return true;
  });
  return dependencies;
}

}  // namespace hone
