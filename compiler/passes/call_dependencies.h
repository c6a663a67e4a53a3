// Which calls of a model must run before which, whatever memory its values get.
#ifndef HONE_COMPILER_PASSES_CALL_DEPENDENCIES_H_
#define HONE_COMPILER_PASSES_CALL_DEPENDENCIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/passes/memory_plan.h"

namespace hone::passes {

// A set of calls by their index.
class CallSet {
 public:
  explicit CallSet(size_t calls) : words_((calls + 63) / 64, 0) {}
  bool Has(int call) const { return (words_[Word(call)] >> (call % 64) & 1) != 0; }
  void Add(int call) { words_[Word(call)] |= uint64_t{1} << (call % 64); }
  void AddAll(const CallSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void KeepOnly(const CallSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }

 private:
  static size_t Word(int call) { return static_cast<size_t>(call) / 64; }
  std::vector<uint64_t> words_;
};

// A call depends on those that write what it reads, and on what they depend on. The calls of a
// repeat count as one after the other. Takes memory of a bit for each pair of calls.
class CallDependencies {
 public:
  CallDependencies(const std::vector<PlannedValue>& values, const std::vector<PlannedCall>& calls);

  // The calls that depend on all of `calls`, of which there is at least one.
  CallSet AfterAll(const std::vector<int>& calls) const;

 private:
  std::vector<CallSet> after_;  // for each call those that depend on it
};

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_CALL_DEPENDENCIES_H_
