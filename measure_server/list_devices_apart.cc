#include "measure_server/list_devices_apart.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "measure_server/process_keeper.h"
#include "runtime/find_device.h"
#include "support/clock.h"
#include "support/scratch_folder.h"
#include "support/status.h"

namespace hone::measure {
namespace {

constexpr const char* kKinds[] = {"cuda", "opencl"};

// To be called in the process that loads drivers.
DevicesHere ListHere() {
  DevicesHere here;
  here.listed = ListDevices();
  for (const std::string kind : kKinds) {
    const auto is_such = [&](const ListedDevice& device) { return device.name.starts_with(kind); };
    std::string why_not;
    if (std::ranges::any_of(here.listed, is_such)) continue;
    if (FindDevice(kind + ":0", "", 1, &why_not) == nullptr) here.missing.push_back(why_not);
  }
  return here;
}

// Each text of each device, with a zero behind it; what is missing is behind an empty name.
std::string Encode(const DevicesHere& here) {
  std::vector<ListedDevice> all = here.listed;
  for (const std::string& sentence : here.missing) all.push_back({"", "", sentence});
  std::string text;
  for (const ListedDevice& device : all) {
    for (const std::string* field : {&device.name, &device.target, &device.identity}) {
      text.append(field->c_str(), field->size() + 1);
    }
  }
  return text;
}

DevicesHere Decode(const std::string& text) {
  std::vector<std::string> fields;
  for (size_t at = 0; at < text.size(); at += fields.back().size() + 1) {
    fields.emplace_back(text.c_str() + at);
  }
  DevicesHere here;
  for (size_t i = 0; i + 2 < fields.size(); i += 3) {
    if (fields[i].empty()) {
      here.missing.push_back(fields[i + 2]);
    } else {
      here.listed.push_back({fields[i], fields[i + 1], fields[i + 2]});
    }
  }
  return here;
}

[[noreturn]] void ListAndEnd(int fd, const std::string& folder) {
  for (const char* name : {"HOME", "TMPDIR", "XDG_CACHE_HOME"}) setenv(name, folder.c_str(), 1);
  const std::string text = Encode(ListHere());
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(fd, text.data() + written, text.size() - written);
    if (count <= 0) _exit(1);
    written += static_cast<size_t>(count);
  }
  _exit(0);
}

// What comes until the other end is closed.
absl::StatusOr<std::string> ReadAll(int fd, int64_t limit_ns) {
  constexpr int64_t kMillisecond = 1'000'000;
  const int64_t end_ns = Clock::Real().NowNs() + limit_ns;
  std::string text;
  char piece[4096];
  while (true) {
    const int64_t left_ns = end_ns - Clock::Real().NowNs();
    if (left_ns <= 0) return absl::UnavailableError("the drivers' devices were not listed in time");
    pollfd readable{fd, POLLIN, 0};
    if (poll(&readable, 1, static_cast<int>(left_ns / kMillisecond + 1)) <= 0) continue;
    const ssize_t count = read(fd, piece, sizeof(piece));
    if (count == 0) return text;
    if (count > 0) text.append(piece, static_cast<size_t>(count));
  }
}

}  // namespace

absl::StatusOr<DevicesHere> ListDevicesApart(int64_t limit_ns) {
  HONE_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::MakeForNow("hone-list-"));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::UnavailableError(fmt::format("pipe: {}", std::strerror(errno)));
  }
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    KeepProcess(ends[1], [&](int keeper_fd) {
      DieWithParent(keeper_fd);
      ListAndEnd(ends[1], folder.path());
    });
  }
  close(ends[1]);
  absl::StatusOr<std::string> text =
      pid > 0 ? ReadAll(ends[0], limit_ns)
              : absl::UnavailableError(fmt::format("fork: {}", std::strerror(errno)));
  close(ends[0]);  // what still runs is ended
  if (pid < 0) return text.status();
  int status = 0;
  waitpid(pid, &status, 0);
  HONE_RETURN_IF_ERROR(text.status());
  if (status == 0) return Decode(*text);
  return absl::UnavailableError("a driver failed while its devices were listed");
}

}  // namespace hone::measure
