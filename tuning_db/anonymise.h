// Anonymises a log, so that it names neither people nor machines.
#ifndef HONE_TUNING_DB_ANONYMISE_H_
#define HONE_TUNING_DB_ANONYMISE_H_

#include <string>
#include <string_view>
#include <utility>

#include "tuning_db/log_line.h"

namespace hone::tuning_db {

// Keeps what makes a log useful and has a fixed form: workload, target, signature, config, digests,
// purpose, outcome, regime, figures. Replaces what people or machines write freely: a device, and a
// toolchain that contains a path, by a pseudonym, the same in all lines of one Anonymiser; a
// message by the name of its outcome; the reason of a retraction by "retracted". Removes workers,
// and cuts times down to days. Not thread-safe.
class Anonymiser {
 public:
  // The key makes the pseudonyms. Use a random one and do not keep it.
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
