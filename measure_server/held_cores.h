// Which cores of this machine a worker measures on, known to the others on it.
#ifndef HONE_MEASURE_SERVER_HELD_CORES_H_
#define HONE_MEASURE_SERVER_HELD_CORES_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace hone::measure {

// A core is held by a Unix socket in the abstract namespace, one for each: all users of the machine
// see it, no file is left behind, and the kernel lets go of it when the process ends, however it
// does. Workers in network namespaces of their own, as in containers, do not see each other's.
// Not thread-safe.
class HeldCores {
 public:
  struct Taken {
    int core = 0;
    pid_t holder = 0;  // 0: not known
  };

  // Holds those of `cores` that nobody else holds. `prefix` is that of the sockets' names, which
  // tests choose.
  explicit HeldCores(const std::vector<int>& cores, const std::string& prefix = "hone-core-");
  ~HeldCores();
  HeldCores(HeldCores&& other) noexcept
      : sockets_(std::exchange(other.sockets_, {})), taken_(std::move(other.taken_)) {}
  HeldCores& operator=(HeldCores&&) = delete;

  // Those of the cores that others hold.
  const std::vector<Taken>& taken() const { return taken_; }
  // "core 3 (process 4711), core 4"; of what others hold.
  std::string TakenText() const;

 private:
  std::vector<int> sockets_;
  std::vector<Taken> taken_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_HELD_CORES_H_
