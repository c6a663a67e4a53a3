// The tuning database. One contract, several stores (memory, SQLite, PostgreSQL), one conformance
// suite (tests/tuning_db/conformance.h).
#ifndef HONE_TUNING_DB_STORE_H_
#define HONE_TUNING_DB_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "support/clock.h"
#include "tuning_db/grant_store.h"
#include "tuning_db/job_store.h"
#include "tuning_db/log_store.h"
#include "tuning_db/quarantine_store.h"
#include "tuning_db/trial_store.h"
#include "tuning_db/upkeep.h"

namespace hone::tuning_db {

// Thread-safe. Every mutation is one transaction, durable when it returns (a batch: when it calls
// back); a crash between any two instructions leaves the state before or after it. Errors:
// kInvalidArgument for what no store takes (well_formed.h: a text that is no UTF-8, or has a NUL),
// kNotFound for an unknown id, kFailedPrecondition for a transition the state does not allow,
// kAborted for a write to a job that is another owner's by now, kUnavailable for a store that is
// closed or locked, kInternal for I/O errors.
//
// A user takes the part that it needs.
class Store : public JobStore,
              public TrialStore,
              public LogStore,
              public Upkeep,
              public GrantStore,
              public QuarantineStore {};

// `clock` stamps events, says which owners are in time, and outlives the store.
std::unique_ptr<Store> MakeMemoryStore(const Clock& clock = Clock::Real());

// Who writes a database.
struct Writer {
  // At which it is reached ("unix:PATH"). Empty: it serves nobody.
  std::string address = "";
  // Its process; 0: unknown. Where it opens the database, the store fills this in.
  int64_t pid = 0;
  // Set for a private daemon: the process that it serves, and nobody else. 0: of none.
  int64_t client = 0;
};
// Whether it serves whoever may dial.
bool IsService(const Writer& writer);
// For sentences: "unix:PATH", "a `hone tune` (process 7)", "process 7", "another process".
std::string Describe(const Writer& writer);

enum class OpenMode {
  kReadOnly,   // the file must exist; short transactions; never writes, not even a migration
  kReadWrite,  // the file must exist; takes FILE.lock
  kCreate,     // as kReadWrite, and makes the file where there is none
};
// kNotFound: no file; kInvalidArgument: no SQLite database, or none of Hone's; kFailedPrecondition:
// of a newer version (read-only: of an older one too), or on a network file system; kUnavailable:
// FILE.lock is held (the message names the holder); kPermissionDenied: the system does not let us.
// `self` is written into FILE.lock.
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& path, OpenMode mode,
                                                       const Writer& self = {},
                                                       const Clock& clock = Clock::Real());

// How long a store goes on trying to reach a server that is away: what is written, since it was
// first found away; what is read, since it was asked.
inline constexpr int64_t kServerPatienceNs = 30'000'000'000;
// By a URI of libpq ("postgresql://USER@HOST/DATABASE"), whose database exists. Many processes may
// have it open for writing, each for its own owner; which owners are in time is decided by the
// server's clock. kNotFound: it holds no tables of ours (kCreate makes them); kFailedPrecondition:
// of a newer version (read-only: of an older one too), or not in UTF-8; kUnavailable: it cannot be
// reached; kInvalidArgument: no URI, or one with a password, which command lines would tell.
absl::StatusOr<std::unique_ptr<Store>> OpenPostgresStore(const std::string& address, OpenMode mode,
                                                         const Clock& clock = Clock::Real(),
                                                         int64_t patience_ns = kServerPatienceNs);
// Whether it is such a URI, and no path.
bool IsPostgresAddress(std::string_view database);
// Opens a database of either kind.
absl::StatusOr<std::unique_ptr<Store>> OpenStore(const std::string& database, OpenMode mode,
                                                 const Writer& self = {},
                                                 const Clock& clock = Clock::Real());

// Whether a store of `database` could not be opened for writing since another process has the file,
// which WriterOf names. A server's database is nobody's alone: what is kUnavailable there cannot be
// reached.
bool IsHeld(const std::string& database, const absl::Status& opened);

// $XDG_DATA_HOME/hone/hone.db, or ~/.local/share/hone/hone.db. Makes nothing.
std::string DefaultPath();
// What FILE.lock says of the live writer; none where nobody holds it, and for a database on a
// server, which may have many.
absl::StatusOr<std::optional<Writer>> WriterOf(const std::string& path);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_STORE_H_
