// Connections that read, as many as there are threads that read at the same time.
#ifndef HONE_TUNING_DB_SQLITE_READER_POOL_H_
#define HONE_TUNING_DB_SQLITE_READER_POOL_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "support/status.h"
#include "tuning_db/sqlite/connection.h"

namespace hone::tuning_db::sqlite {

// Thread-safe.
class ReaderPool {
 public:
  explicit ReaderPool(std::string path) : path_(std::move(path)) {}

  // The answer of `query(Connection&)`, a function that returns a StatusOr, in one read
  // transaction: it sees one state of the database.
  template <typename Query>
  auto Read(const Query& query) -> decltype(query(std::declval<Connection&>())) {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Connection> db, Take());
    HONE_RETURN_IF_ERROR(db->Run("BEGIN"));
    auto answer = query(*db);
    const absl::Status end = db->Run("ROLLBACK");  // a connection that fails is dropped
    if (end.ok()) GiveBack(std::move(db));
    return answer;
  }

 private:
  absl::StatusOr<std::unique_ptr<Connection>> Take();
  void GiveBack(std::unique_ptr<Connection> db);

  const std::string path_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_READER_POOL_H_
