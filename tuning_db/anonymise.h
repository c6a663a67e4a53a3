// Anonymises a log, so that it names neither people nor machines.
#ifndef HONE_TUNING_DB_ANONYMISE_H_
#define HONE_TUNING_DB_ANONYMISE_H_

#include <string>
#include <string_view>
#include <utility>

#include "tuning_db/log_line.h"

namespace hone::tuning_db {

// What stays is what makes a log useful, and is of a closed form: workload, target, signature,
// config, digests, purpose, outcome, regime, figures. What people or machines write freely goes: a
// device is a pseudonym, the same for all lines of one Anonymiser, and so is a toolchain that has
// a path in it; a worker is nobody; a message and the reason of a retraction say no more than that
// there was one; times are days. Not thread-safe.
class Anonymiser {
 public:
  // Pseudonyms are made with the key, which whoever makes it forgets.
  explicit Anonymiser(std::string key) : key_(std::move(key)) {}

  void Apply(LogLine& line) const;

 private:
  std::string Pseudonym(std::string_view kind, std::string_view name) const;
  void Apply(Record& record) const;
  void Apply(Final& final) const;

  const std::string key_;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_ANONYMISE_H_
