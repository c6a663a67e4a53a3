// The statements of each migration, in a file named by the version that it makes. A released
// migration is never changed; a change of the schema is a new one.
#ifndef HONE_TUNING_DB_POSTGRES_MIGRATIONS_MIGRATIONS_H_
#define HONE_TUNING_DB_POSTGRES_MIGRATIONS_MIGRATIONS_H_

namespace hone::tuning_db::postgres {

extern const char kFirst[];
extern const char kLeaseFacts[];
extern const char kJobsOfMany[];
extern const char kBytesOfReasons[];
extern const char kRecordsOfFinals[];
extern const char kLeastSamples[];
extern const char kGrants[];
extern const char kQuarantines[];
extern const char kJobWishes[];
extern const char kLogQuestions[];
extern const char kJobRequests[];
extern const char kJobEnds[];

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_MIGRATIONS_MIGRATIONS_H_
