// The statements of each migration, in a file named by the version that it makes. A released
// migration is never changed; a change of the schema is a new one.
#ifndef HONE_TUNING_DB_SQLITE_MIGRATIONS_MIGRATIONS_H_
#define HONE_TUNING_DB_SQLITE_MIGRATIONS_MIGRATIONS_H_

namespace hone::tuning_db::sqlite {

extern const char kFirst[];
extern const char kMisses[];
extern const char kJobFigures[];
extern const char kModelFinals[];
extern const char kEarlyEnds[];
extern const char kPrivateJobs[];
extern const char kFarmState[];
extern const char kFarmLog[];
extern const char kLeaseFacts[];
extern const char kJobsOfMany[];
extern const char kPackedSamples[];
extern const char kRecordsOfFinals[];
extern const char kLeastSamples[];
extern const char kGrants[];
extern const char kQuarantines[];
extern const char kJobWishes[];
extern const char kLogQuestions[];
extern const char kJobRequests[];
extern const char kJobEnds[];

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_MIGRATIONS_MIGRATIONS_H_
