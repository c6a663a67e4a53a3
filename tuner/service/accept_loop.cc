#include "tuner/service/accept_loop.h"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "support/clock.h"

namespace hone::tuner {
namespace {

constexpr int kRetryMs = 100;
constexpr rlim_t kLeastReserve = 64;

// The lowest free number is a new descriptor's: one from here on says that so many are in use.
int FirstOfReserve() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT32_MAX) return INT32_MAX;
  const rlim_t reserve = std::max(kLeastReserve, limit.rlim_cur / 8);
  return static_cast<int>(limit.rlim_cur - std::min(limit.rlim_cur, reserve));
}

}  // namespace

absl::StatusOr<std::unique_ptr<AcceptLoop>> AcceptLoop::Make(std::vector<int> sockets,
                                                             std::string name) {
  const int stop_fd = eventfd(0, EFD_CLOEXEC);
  if (stop_fd >= 0) {
    return std::unique_ptr<AcceptLoop>(
        new AcceptLoop(std::move(sockets), stop_fd, std::move(name)));
  }
  const std::string why = std::strerror(errno);
  for (const int fd : sockets) close(fd);
  return absl::UnavailableError(fmt::format("cannot listen at {}: {}", name, why));
}

AcceptLoop::~AcceptLoop() {
  Stop();
  for (const int fd : sockets_) close(fd);
  close(stop_fd_);
}

void AcceptLoop::Serve(std::function<void(int fd)> take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { Loop(); });
}

void AcceptLoop::Stop() {
  if (!thread_.joinable()) return;
  eventfd_write(stop_fd_, 1);
  thread_.join();
}

void AcceptLoop::Loop() {
  std::vector<pollfd> polled = {{stop_fd_, POLLIN, 0}};
  for (const int fd : sockets_) polled.push_back({fd, POLLIN, 0});
  while (true) {
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
    if (polled[0].revents != 0) return;
    for (size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents != 0) AcceptOne(polled[i].fd);
    }
  }
}

void AcceptLoop::AcceptOne(int socket) {
  const int fd = accept4(socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    const bool is_passing = errno == EINTR || errno == EAGAIN || errno == ECONNABORTED;
    if (is_passing) return;
    Complain(fmt::format("a connection waits: {}", std::strerror(errno)));  // out of descriptors
    pollfd stop = {stop_fd_, POLLIN, 0};
    poll(&stop, 1, kRetryMs);
    return;
  }
  if (fd < FirstOfReserve()) return take_(fd);
  Complain(
      fmt::format("refused a connection, since {} descriptors are in use; its limit of open "
                  "files (ulimit -n) says how many there may be",
                  fd));
  close(fd);
}

void AcceptLoop::Complain(const std::string& what) {
  int swallowed = 0;
  if (complaints_.Spend(Clock::Real().NowNs(), &swallowed)) spdlog::error("{}: {}", name_, what);
}

void AllowManyDescriptors() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace hone::tuner
