// What a copy of a database is held against.
#ifndef HONE_TESTS_TUNING_DB_COPY_CHECKS_H_
#define HONE_TESTS_TUNING_DB_COPY_CHECKS_H_

#include <string>
#include <vector>

#include "tuning_db/copied_tables.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {

// A row or more in each table.
void FillEachTable(Store& store);

// All rows of a database, as "TABLE: value, value", sorted. Times are cut to microseconds.
std::vector<std::string> RowsOf(RowSource& source);
std::vector<std::string> RowsOf(const std::string& database);

// That it is sound, and what it is given from now on goes on above what it has.
void ExpectToGoOn(const std::string& database);

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_COPY_CHECKS_H_
