#include "tuning_db/copy_database.h"

#include <memory>
#include <vector>

#include "support/status.h"
#include "tuning_db/copied_tables.h"
#include "tuning_db/postgres/copy_rows.h"
#include "tuning_db/sqlite/copy_rows.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {

absl::StatusOr<int64_t> CopyDatabase(const std::string& from, const std::string& to) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<RowSource> source, IsPostgresAddress(from)
                                                               ? postgres::OpenRowSource(from)
                                                               : sqlite::OpenRowSource(from));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RowSink> sink, IsPostgresAddress(to)
                                                                 ? postgres::OpenRowSink(to)
                                                                 : sqlite::OpenRowSink(to));
  int64_t copied = 0;
  for (const CopiedTable& table : CopiedTables()) {
    HONE_RETURN_IF_ERROR(source->Begin(table));
    for (;;) {
      HONE_ASSIGN_OR_RETURN(const std::vector<CopiedRow> rows, source->Next());
      if (rows.empty()) break;
      HONE_RETURN_IF_ERROR(sink->Add(table, rows));
      copied += static_cast<int64_t>(rows.size());
    }
  }
  source.reset();
  HONE_RETURN_IF_ERROR(sink->Finish());
  return copied;
}

}  // namespace hone::tuning_db
