// Lets workers on one machine know which cores the others measure on.
#ifndef HONE_MEASURE_SERVER_HELD_CORES_H_
#define HONE_MEASURE_SERVER_HELD_CORES_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace hone::measure {

// Holds each core by a Unix socket in the abstract namespace: all users of the machine see it, no
// file is left behind, and the kernel releases it however the process ends. Workers in network
// namespaces of their own, such as in containers, do not see each other's. Not thread-safe.
class HeldCores {
 public:
  struct Taken {
    int core = 0;
    pid_t holder = 0;  // 0: unknown
  };

  // Holds those of `cores` that nobody else holds. `prefix` begins the names of the sockets; tests
  // use one of their own.
  explicit HeldCores(const std::vector<int>& cores, const std::string& prefix = "hone-core-");
  ~HeldCores();
  HeldCores(HeldCores&& other) noexcept
      : sockets_(std::exchange(other.sockets_, {})), taken_(std::move(other.taken_)) {}
  HeldCores& operator=(HeldCores&&) = delete;

  // The cores that others hold.
  const std::vector<Taken>& taken() const { return taken_; }
  // taken() as a text: "core 3 (process 4711), core 4".
  std::string TakenText() const;

 private:
  std::vector<int> sockets_;
  std::vector<Taken> taken_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_HELD_CORES_H_
