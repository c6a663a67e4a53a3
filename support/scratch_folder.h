// Folders for files that nobody needs once their process has ended.
#ifndef HONE_SUPPORT_SCRATCH_FOLDER_H_
#define HONE_SUPPORT_SCRATCH_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"

namespace hone {

// A folder that is made with mode 0700, and goes with its files when the object goes. What a killed
// process left is removed by the next that makes one of the same prefix in the same place: who has
// one holds a lock on it, which ends with the process.
class ScratchFolder {
 public:
  // PARENT/PREFIXxxxxxx.
  static absl::StatusOr<ScratchFolder> Make(const std::string& parent, const std::string& prefix);
  // The same where what is for this session of the user alone belongs: in XDG_RUNTIME_DIR, or /tmp.
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

  std::string path_;  // empty: it was moved from
  int fd_ = -1;
};

}  // namespace hone

#endif  // HONE_SUPPORT_SCRATCH_FOLDER_H_
