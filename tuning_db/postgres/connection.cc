#include "tuning_db/postgres/connection.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tuning_db/digest_bytes.h"

namespace hone::tuning_db::postgres {
namespace {

// Texts whose ids a connection remembers.
constexpr size_t kMostTexts = 8192;

// libpq writes several lines, with a hint on one of its own.
std::string OneLine(const char* message) {
  return absl::StrJoin(absl::StrSplit(message, absl::ByAnyChar(" \n\t"), absl::SkipEmpty()), " ");
}

bool StartsWith(const std::string& sqlstate, const char* start) {
  return sqlstate.rfind(start, 0) == 0;
}

// What is wrong with it is said before anybody is asked.
absl::Status CheckAddress(const std::string& address) {
  char* message = nullptr;
  PQconninfoOption* const options = PQconninfoParse(address.c_str(), &message);
  if (options == nullptr) {
    PQfreemem(message);  // it repeats what was given, and that may hold a password
    return absl::InvalidArgumentError(
        "expected a URI as postgresql://USER@HOST/DATABASE, found something else");
  }
  bool has_password = false;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    const std::string_view keyword = option->keyword;
    has_password |= (keyword == "password" || keyword == "sslpassword") && option->val != nullptr;
  }
  PQconninfoFree(options);
  if (!has_password) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "expected the address of the tuning database without a password, which everybody on this "
      "machine could read; keep it in ~/.pgpass");
}

int NibbleOf(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

}  // namespace

int64_t Row::Integer(int column) const {
  const char* text = PQgetvalue(result_, row_, column);
  if (text[0] == 't') return 1;
  int64_t value = 0;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}

double Row::Real(int column) const {
  if (IsNull(column)) return std::numeric_limits<double>::quiet_NaN();
  return std::strtod(PQgetvalue(result_, row_, column), nullptr);
}

std::string Row::Text(int column) const {
  return {PQgetvalue(result_, row_, column),
          static_cast<size_t>(PQgetlength(result_, row_, column))};
}

// "\x" and two digits a byte.
std::string Row::Bytes(int column) const {
  const std::string text = Text(column);
  std::string bytes;
  for (size_t i = 2; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(NibbleOf(text[i]) << 4 | NibbleOf(text[i + 1])));
  }
  return bytes;
}

std::string Row::DigestText(int column) const {
  const std::string bytes = Bytes(column);
  DigestBytes digest;
  if (bytes.size() == digest.size()) {
    std::memcpy(digest.data(), bytes.data(), digest.size());
    return DigestToText(digest);
  }
  const size_t begin = bytes.find_first_not_of('\0');
  return begin == std::string::npos ? "" : bytes.substr(begin);
}

bool Row::IsNull(int column) const { return PQgetisnull(result_, row_, column) != 0; }

std::vector<double> Row::Reals(int column) const {
  const std::string bytes = Bytes(column);
  std::vector<double> values(bytes.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
  return values;
}

void Rows::Clear::operator()(pg_result* result) const { PQclear(result); }

int Rows::size() const { return PQntuples(result_.get()); }

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const std::string& address) {
  HONE_RETURN_IF_ERROR(CheckAddress(address));
  // What is dead is found out within seconds, and not by a person.
  constexpr std::array kKeywords = {
      "dbname",           "fallback_application_name", "connect_timeout",
      "keepalives_idle",  "keepalives_interval",       "keepalives_count",
      "tcp_user_timeout", "client_encoding",           static_cast<const char*>(nullptr)};
  const std::array kValues = {address.c_str(),
                              "hone",
                              "5",
                              "5",
                              "5",
                              "3",
                              "15000",
                              "UTF8",
                              static_cast<const char*>(nullptr)};
  std::unique_ptr<Connection> db(
      new Connection(PQconnectdbParams(kKeywords.data(), kValues.data(), /*expand_dbname=*/1)));
  if (PQstatus(db->handle_) != CONNECTION_OK) {
    return absl::UnavailableError("cannot reach the tuning database: " +
                                  OneLine(PQerrorMessage(db->handle_)));
  }
  PQsetNoticeProcessor(db->handle_, [](void*, const char*) {}, nullptr);
  HONE_RETURN_IF_ERROR(db->Configure());
  return db;
}

Connection::~Connection() { PQfinish(handle_); }

// A daemon that is stopped in the middle of a transaction must not keep the others from writing:
// the server ends it. Whatever the role's default is, an acknowledged commit is on the disk.
absl::Status Connection::Configure() {
  return Execute(
      "SET search_path TO hone; SET statement_timeout TO '60s'; SET lock_timeout TO '30s'; "
      "SET idle_in_transaction_session_timeout TO '10s'; SET bytea_output TO 'hex'; "
      "SET extra_float_digits TO 1; "
      "SELECT set_config('synchronous_commit', 'on', false) "
      "WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')");
}

absl::Status Connection::Execute(const std::string& sql) {
  pg_result* result = PQexec(handle_, sql.c_str());
  const Rows rows(result);
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return ErrorOf(result);
  changed_rows_ = std::atoi(PQcmdTuples(result));
  // The COMMIT of a transaction that an error has broken ends it with ROLLBACK, and no error.
  if (sql == "COMMIT" && std::string_view(PQcmdStatus(result)) != "COMMIT") {
    failure_ = Failure::kRefused;
    return absl::InternalError("the tuning database has given the transaction up");
  }
  return absl::OkStatus();
}

int Connection::Socket() const { return PQsocket(handle_); }

absl::StatusOr<std::vector<std::string>> Connection::Notifications() {
  if (PQconsumeInput(handle_) == 0) return ErrorOf(nullptr);
  std::vector<std::string> payloads;
  while (PGnotify* notification = PQnotifies(handle_)) {
    payloads.emplace_back(notification->extra);
    PQfreemem(notification);
  }
  return payloads;
}

absl::StatusOr<std::string> Connection::Prepare(const std::string& sql) {
  const auto known = prepared_.find(sql);
  if (known != prepared_.end()) return known->second;
  const std::string name = fmt::format("s{}", prepared_.size());
  pg_result* prepared = PQprepare(handle_, name.c_str(), sql.c_str(), 0, nullptr);
  const Rows answer(prepared);
  if (PQresultStatus(prepared) != PGRES_COMMAND_OK) return ErrorOf(prepared);
  prepared_[sql] = name;
  return name;
}

absl::StatusOr<Rows> Connection::QueryWith(const std::string& sql, const Parameters& parameters) {
  HONE_ASSIGN_OR_RETURN(const std::string name, Prepare(sql));
  pg_result* result =
      PQexecPrepared(handle_, name.c_str(), parameters.size(), parameters.Values().data(),
                     parameters.Lengths().data(), parameters.Formats().data(), /*resultFormat=*/0);
  Rows rows(result);
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return rows;
  return ErrorOf(result);
}

absl::Status Connection::ErrorOf(const pg_result* result) {
  const char* field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string sqlstate = field != nullptr ? field : "";
  failure_ = PQstatus(handle_) != CONNECTION_OK ? Failure::kLost : FailureOf(sqlstate);
  const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string message = OneLine(primary != nullptr ? primary : PQerrorMessage(handle_));
  if (failure_ == Failure::kLost) {
    return absl::UnavailableError("the connection to the tuning database is lost: " + message);
  }
  return {CodeOf(sqlstate), fmt::format("the tuning database answers: {} ({})", message, sqlstate)};
}

std::optional<int64_t> Connection::KnownText(const std::string& text) const {
  const auto known = texts_.find(text);
  return known != texts_.end() ? std::optional(known->second) : std::nullopt;
}

void Connection::LearnText(const std::string& text, int64_t id) {
  if (texts_.size() >= kMostTexts) texts_.clear();
  texts_[text] = id;
}

Failure FailureOf(const std::string& sqlstate) {
  if (StartsWith(sqlstate, "08") || StartsWith(sqlstate, "57P")) return Failure::kLost;
  const bool passes = StartsWith(sqlstate, "40") || StartsWith(sqlstate, "53") ||
                      StartsWith(sqlstate, "55P") || sqlstate == "57014";
  return passes ? Failure::kPassing : Failure::kRefused;
}

absl::StatusCode CodeOf(const std::string& sqlstate) {
  if (FailureOf(sqlstate) == Failure::kPassing) return absl::StatusCode::kUnavailable;
  if (sqlstate == "42501") return absl::StatusCode::kPermissionDenied;
  if (sqlstate == "25006") return absl::StatusCode::kFailedPrecondition;
  if (StartsWith(sqlstate, "22")) return absl::StatusCode::kInvalidArgument;
  return absl::StatusCode::kInternal;
}

}  // namespace hone::tuning_db::postgres
