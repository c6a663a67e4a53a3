// A disk that fails, and one that loses power, below SQLite.
#ifndef HONE_TESTS_TUNING_DB_FAULT_VFS_H_
#define HONE_TESTS_TUNING_DB_FAULT_VFS_H_

#include <cstdint>

#include "support/random.h"

namespace hone::tuning_db {

// While it lives, it is SQLite's default VFS of the process: real files, whose calls are counted.
// Syncs are kept in mind instead of waited for. Not two at a time.
class FaultVfs {
 public:
  enum class Fault {
    kNone,
    kIoError,    // that call fails, and those after it go well
    kDiskFull,   // the same, for calls that write; others go well
    kPowerLoss,  // that call and all after it fail: nothing more reaches the files
  };

  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  // The `at`-th call from now on, of reads, writes, syncs, truncations and openings, counted from
  // 1, has the fault. 0: none has. While no file is open; what is in files then is on the disk.
  void Arm(Fault fault, int64_t at);
  // Since the last Arm.
  int64_t calls() const;
  bool HasStruck() const;

  // After kPowerLoss, when all files are closed: of what was written to each file since its last
  // sync, some is lost and some is torn at a sector.
  void LosePower(Random& random);
};

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_FAULT_VFS_H_
