// A database as the version before the farm left it: schema 7.
#ifndef HONE_TESTS_TUNING_DB_VERSION7_H_
#define HONE_TESTS_TUNING_DB_VERSION7_H_

#include <string>

namespace hone::tuning_db {

// Makes the file. One job of one task: a settled trial with its event, one that crashed, one
// leased, one proposed; a final; a miss.
void FillVersion7(const std::string& path);
// Brings the file to that version, as a Hone of that version would have.
void MigrateTo(const std::string& path, int version);

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_VERSION7_H_
