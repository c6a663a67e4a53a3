// Folders for files that nobody needs once their process has ended.
#ifndef HONE_SUPPORT_SCRATCH_FOLDER_H_
#define HONE_SUPPORT_SCRATCH_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"

namespace hone {

// A folder with mode 0700. The destructor removes it with all its files. A process that is killed
// leaves its folder behind; a later process that makes one with the same parent and prefix removes
// it once it is a minute old. Folders in use are recognised by a lock that their process holds.
class ScratchFolder {
 public:
  // Makes PARENT/PREFIXxxxxxx, where the last six characters are random.
  static absl::StatusOr<ScratchFolder> Make(const std::string& parent, const std::string& prefix);
  // The same in XDG_RUNTIME_DIR, the folder for files of the user's present session, or in /tmp if
  // that is not set.
  static absl::StatusOr<ScratchFolder> MakeForNow(const std::string& prefix);
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { Remove(); }

  const std::string& path() const { return path_; }

 private:
  ScratchFolder(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  void Remove();

  std::string path_;  // empty if the object was moved from
  int fd_ = -1;
};

}  // namespace hone

#endif  // HONE_SUPPORT_SCRATCH_FOLDER_H_
