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

// Thread-safe. Every change is one transaction, durable when the call returns (a batch: when it
// calls back); a crash between any two instructions leaves the state before or after it. Errors:
// kInvalidArgument for values that no store takes (well_formed.h: a text that is not UTF-8 or has a
// NUL), kNotFound for an unknown id, kFailedPrecondition for a transition that the state does not
// allow, kAborted for a write to a job that belongs to another owner by now, kUnavailable for a
// store that is closed, locked or out of reach, kInternal for I/O errors.
//
// Code that needs only one part takes a reference to that part.
class Store : public JobStore,
              public TrialStore,
              public LogStore,
              public Upkeep,
              public GrantStore,
              public QuarantineStore {};

// `clock` stamps events and says which owners are in time. It must outlive the store, here and
// below.
std::unique_ptr<Store> MakeMemoryStore(const Clock& clock = Clock::Real());

// Who writes a database.
struct Writer {
  // The address at which it serves ("unix:PATH"). Empty: it serves nobody.
  std::string address = "";
  // Its process id; 0: unknown. The store fills it in when it takes the lock.
  int64_t pid = 0;
  // The process id of a private daemon's client. 0: not a private daemon.
  int64_t client = 0;
};
// Whether the writer is a service: it serves whoever connects, not one client.
bool IsService(const Writer& writer);
// The writer's name in messages: "unix:PATH", "a `hone tune` (process 7)", "process 7", "another
// process".
std::string Describe(const Writer& writer);

enum class OpenMode {
  kReadOnly,   // the file must exist; short transactions; never writes, not even a migration
  kReadWrite,  // the file must exist; takes FILE.lock
  kCreate,     // as kReadWrite, and makes the file if there is none
};
// Opens a SQLite file; to write, writes `self` into FILE.lock. kNotFound: there is no file;
// kInvalidArgument: it is not a SQLite database, or not Hone's; kFailedPrecondition: its version is
// newer (or older, to read only), or it is on a network file system; kUnavailable: another process
// holds FILE.lock (the message names it); kPermissionDenied: the system forbids it.
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& path, OpenMode mode,
                                                       const Writer& self = {},
                                                       const Clock& clock = Clock::Real());

// How long a store keeps trying to reach a server that does not answer: for a write, since that was
// first noticed; for a read, since the call.
inline constexpr int64_t kServerPatienceNs = 30'000'000'000;
// Opens an existing database by a URI of libpq ("postgresql://USER@HOST/DATABASE"). Many processes
// may have it open for writing, each with an owner of its own; the server's clock decides which
// owners are in time. kNotFound: it has no tables of ours (kCreate makes them);
// kFailedPrecondition: its version is newer (or older, to read only), or it is not in UTF-8;
// kUnavailable: it cannot be reached; kInvalidArgument: not a URI, or one with a password, which
// would show in command lines.
absl::StatusOr<std::unique_ptr<Store>> OpenPostgresStore(const std::string& address, OpenMode mode,
                                                         const Clock& clock = Clock::Real(),
                                                         int64_t patience_ns = kServerPatienceNs);
// Whether `database` is such a URI rather than a path.
bool IsPostgresAddress(std::string_view database);
// Opens a database of either kind.
absl::StatusOr<std::unique_ptr<Store>> OpenStore(const std::string& database, OpenMode mode,
                                                 const Writer& self = {},
                                                 const Clock& clock = Clock::Real());

// Given the status of opening `database` for writing: whether it failed because another process,
// which WriterOf names, has the file. Never so on a server, where kUnavailable means out of reach.
bool IsHeld(const std::string& database, const absl::Status& opened);

// $XDG_DATA_HOME/hone/hone.db, or ~/.local/share/hone/hone.db. Creates nothing.
std::string DefaultPath();
// The live writer, as FILE.lock describes it; nullopt if nobody holds the lock, and for a database
// on a server, which may have many writers.
absl::StatusOr<std::optional<Writer>> WriterOf(const std::string& path);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_STORE_H_
