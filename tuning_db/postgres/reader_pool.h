// A pool of connections for reading: as many as threads read at the same time, up to kMostReaders.
#ifndef HONE_TUNING_DB_POSTGRES_READER_POOL_H_
#define HONE_TUNING_DB_POSTGRES_READER_POOL_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/postgres/connection.h"

namespace hone::tuning_db::postgres {

// A server takes some hundred connections, for all daemons and tools together.
inline constexpr int kMostReaders = 8;

// Thread-safe.
class ReaderPool {
 public:
  ReaderPool(std::string address, int64_t patience_ns)
      : address_(std::move(address)), patience_ns_(patience_ns) {}

  // Returns what `query(Connection&)`, a function that returns a StatusOr, returns in one read
  // transaction: it sees one state of the database. If the connection is lost, runs it again until
  // `patience_ns` are over.
  template <typename Query>
  auto Read(const Query& query) -> decltype(query(std::declval<Connection&>())) {
    using Answer = decltype(query(std::declval<Connection&>()));
    Answer answer = absl::UnknownError("not run");
    const absl::Status status = Run([&](Connection& db) {
      answer = query(db);
      return answer.status();
    });
    if (answer.ok() && !status.ok()) return status;
    return absl::IsUnknown(answer.status()) ? Answer(status) : answer;
  }

 private:
  absl::Status Run(const std::function<absl::Status(Connection&)>& query);
  // Sets `is_passing` if the query failed but may succeed another time.
  absl::Status RunOnce(const std::function<absl::Status(Connection&)>& query, bool& is_passing);
  std::unique_ptr<Connection> Take();  // null: the caller is to open a new one
  void GiveBack(std::unique_ptr<Connection> db);

  const std::string address_;
  const int64_t patience_ns_;
  std::mutex mutex_;  // guards all below
  std::condition_variable one_is_free_;
  std::vector<std::unique_ptr<Connection>> idle_;
  int taken_ = 0;
};

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_READER_POOL_H_
