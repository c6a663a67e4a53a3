// A PostgreSQL server of one test program, on a Unix socket in a folder of its own.
#ifndef HONE_TESTS_TUNING_DB_POSTGRES_SERVER_H_
#define HONE_TESTS_TUNING_DB_POSTGRES_SERVER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace hone::tuning_db {

class PostgresServer {
 public:
  // Why there is none on this machine; empty: there is.
  static std::string WhyNot();
  // The one that all tests of this program share, started by the first that asks; nullptr where it
  // is not installed or does not start. PostgreSQL refuses to run as root: it becomes `postgres`,
  // or `nobody`.
  static PostgresServer* Shared();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // As OpenPostgresStore takes it.
  std::string Address(const std::string& database = "hone") const;
  // Without tables of ours.
  void Clear(const std::string& database = "hone");
  // As one who looks from outside; the first column of the first row.
  std::string Ask(const std::string& sql, const std::string& database = "hone");

  // kill -9 of all of its processes, with no time for a word.
  void Kill();
  // As after a crash, or after Stop.
  bool Restart();

 private:
  PostgresServer() = default;
  static std::unique_ptr<PostgresServer> Start();
  // Where the server's programs are; empty: they are not installed.
  static std::string Programs();
  bool Init();
  bool Launch();
  // The exit code.
  int Run(const std::vector<std::string>& command) const;
  pid_t Spawn(const std::vector<std::string>& command) const;

  std::string folder_;
  pid_t pid_ = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_POSTGRES_SERVER_H_
