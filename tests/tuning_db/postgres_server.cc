#include "tests/tuning_db/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tuning_db/postgres/connection.h"

namespace hone::tuning_db {
namespace {

namespace fs = std::filesystem;

// Whom the server runs as; nullptr: as ourselves.
const passwd* ServerUser() {
  if (getuid() != 0) return nullptr;
  const passwd* user = getpwnam("postgres");
  return user != nullptr ? user : getpwnam("nobody");
}

}  // namespace

std::string PostgresServer::Programs() {
  for (const char* folder : {"/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/16/bin",
                             "/usr/lib/postgresql/17/bin", "/usr/local/bin", "/usr/bin"}) {
    if (access((std::string(folder) + "/initdb").c_str(), X_OK) == 0) return folder;
  }
  return "";
}

std::string PostgresServer::WhyNot() {
  return Programs().empty() ? "PostgreSQL's server is not installed (postgresql-15)" : "";
}

PostgresServer* PostgresServer::Shared() {
  static const std::unique_ptr<PostgresServer> server = WhyNot().empty() ? Start() : nullptr;
  return server.get();
}

std::unique_ptr<PostgresServer> PostgresServer::Start() {
  std::unique_ptr<PostgresServer> server(new PostgresServer());
  std::string name = fs::temp_directory_path() / "hone-postgres-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return nullptr;
  server->folder_ = name;
  if (const passwd* user = ServerUser()) {
    if (chown(name.c_str(), user->pw_uid, user->pw_gid) != 0) return nullptr;
  }
  if (!server->Init() || !server->Launch()) return nullptr;
  server->Ask("CREATE DATABASE hone ENCODING 'UTF8' TEMPLATE template0", "postgres");
  return server;
}

PostgresServer::~PostgresServer() {
  if (pid_ != 0) Kill();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

bool PostgresServer::Init() {
  return Run({Programs() + "/initdb", "--pgdata=" + folder_ + "/data", "--auth=trust",
              "--username=hone", "--encoding=UTF8", "--no-locale", "--no-sync",
              "--no-instructions"}) == 0;
}

bool PostgresServer::Launch() {
  // A killed process loses nothing that it has written; what a power cut loses is the server's own
  // affair.
  pid_ = Spawn({Programs() + "/postgres", "-D", folder_ + "/data", "-k", folder_, "-c",
                "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB", "-c",
                "max_connections=80", "-c", "log_min_messages=fatal"});
  // It says when it serves by the last line of a file; to ask it is simpler.
  for (int i = 0; i < 1000; ++i) {
    if (postgres::Connection::Open(Address("postgres")).ok()) return true;
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  pid_ = 0;
  return false;
}

std::string PostgresServer::Address(const std::string& database) const {
  return "postgresql://hone@/" + database + "?host=" + folder_;
}

void PostgresServer::Clear(const std::string& database) {
  Ask("DROP SCHEMA IF EXISTS hone CASCADE", database);
}

std::string PostgresServer::Ask(const std::string& sql, const std::string& database) {
  auto db = postgres::Connection::Open(Address(database));
  EXPECT_TRUE(db.ok()) << db.status();
  if (!db.ok()) return "";
  const auto rows = (*db)->Query(sql);
  EXPECT_TRUE(rows.ok()) << rows.status();
  return rows.ok() && !rows->empty() ? (*rows)[0].Text(0) : "";
}

void PostgresServer::Kill() {
  // Its children end by themselves when they see that it has gone; the one that writes must not
  // finish what it does.
  std::vector<pid_t> processes = {pid_};
  std::ifstream children("/proc/" + std::to_string(pid_) + "/task/" + std::to_string(pid_) +
                         "/children");
  for (pid_t pid = 0; children >> pid;) processes.push_back(pid);
  for (const pid_t pid : processes) kill(pid, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

bool PostgresServer::Restart() {
  // Its predecessor's shared memory is free once the last child has gone.
  for (int i = 0; i < 100; ++i) {
    if (Launch()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

int PostgresServer::Run(const std::vector<std::string>& command) const {
  int status = 0;
  waitpid(Spawn(command), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

pid_t PostgresServer::Spawn(const std::vector<std::string>& command) const {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const passwd* user = ServerUser();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  const std::string log = folder_ + "/log";
  if (user != nullptr &&
      (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)) {
    _exit(126);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // which a change of the user would undo
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(fd, STDOUT_FILENO);
  dup2(fd, STDERR_FILENO);
  if (chdir(folder_.c_str()) != 0) _exit(126);
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace hone::tuning_db
