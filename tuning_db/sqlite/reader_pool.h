// A pool of connections for reading: as many as threads have ever read at the same time.
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
  // A frozen file (Access::kFrozen) is opened anew for each read, and a read during which it
  // changes fails with kUnavailable.
  ReaderPool(std::string path, bool is_frozen) : path_(std::move(path)), is_frozen_(is_frozen) {}

  // Returns what `query(Connection&)`, a function that returns a StatusOr, returns in one read
  // transaction: it sees one state of the database.
  template <typename Query>
  auto Read(const Query& query) -> decltype(query(std::declval<Connection&>())) {
    const std::string state = State();
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Connection> db, Take());
    HONE_RETURN_IF_ERROR(db->Run("BEGIN"));
    auto answer = query(*db);
    const absl::Status end = db->Run("ROLLBACK");  // a connection that fails is dropped
    if (end.ok()) GiveBack(std::move(db));
    if (State() != state) return Changed();
    return answer;
  }

 private:
  absl::StatusOr<std::unique_ptr<Connection>> Take();
  std::string State() const;  // empty unless frozen
  absl::Status Changed() const;
  void GiveBack(std::unique_ptr<Connection> db);

  const std::string path_;
  const bool is_frozen_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_READER_POOL_H_
