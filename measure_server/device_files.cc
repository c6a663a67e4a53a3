#include "measure_server/device_files.h"

#include <fmt/format.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::measure {
namespace {

// GPUs of AMD and Intel; AMD's; NVIDIA's; those of phones and boards.
constexpr const char* kPatterns[] = {"/dri/renderD*", "/kfd",   "/nvidia[0-9]*", "/nvidiactl",
                                     "/nvidia-uvm",   "/mali*", "/kgsl-3d0"};

std::string UserName(uid_t user) {
  const passwd* const entry = getpwuid(user);
  return entry == nullptr ? std::to_string(user) : entry->pw_name;
}

std::string GroupName(gid_t group) {
  const struct group* const entry = getgrgid(group);
  return entry == nullptr ? std::to_string(group) : entry->gr_name;
}

}  // namespace

std::string BarredDeviceFiles(const std::string& folder) {
  std::string barred;
  for (const char* const pattern : kPatterns) {
    glob_t found{};
    if (glob((folder + pattern).c_str(), 0, nullptr, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc; ++i) {
        const char* const path = found.gl_pathv[i];
        struct stat info{};
        if (access(path, R_OK | W_OK) == 0 || stat(path, &info) != 0) continue;
        barred += fmt::format("{}{} ({}:{}, mode {:04o})", barred.empty() ? "" : ", ", path,
                              UserName(info.st_uid), GroupName(info.st_gid), info.st_mode & 07777);
      }
    }
    globfree(&found);
  }
  return barred;
}

}  // namespace hone::measure
