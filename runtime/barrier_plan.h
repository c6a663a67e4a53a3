// Decides which of the barriers that a list of launches asks for are needed when a team runs it.
#ifndef HONE_RUNTIME_BARRIER_PLAN_H_
#define HONE_RUNTIME_BARRIER_PLAN_H_

namespace hone {

// Call Next() for each launch in order. Consecutive launches that thread 0 runs alone need no
// barrier between them: one barrier before the next launch that all threads run serves them all.
class BarrierPlan {
 public:
  // Whether a barrier must stand before this launch.
  bool Next(bool wants_barrier, bool is_serial) {
    bool barrier = wants_barrier;
    if (wants_barrier && is_serial && !parallel_since_barrier_) {
      barrier = false;
      is_owed_ = true;
    } else if (is_owed_ && !is_serial) {
      barrier = true;
    }
    if (barrier) {
      parallel_since_barrier_ = false;
      is_owed_ = false;
    }
    parallel_since_barrier_ = parallel_since_barrier_ || !is_serial;
    return barrier;
  }

  // Merges the state of another path to the same point: from now on the plan keeps every barrier
  // that is needed after either path.
  void Join(const BarrierPlan& other) {
    parallel_since_barrier_ = parallel_since_barrier_ || other.parallel_since_barrier_;
    is_owed_ = is_owed_ || other.is_owed_;
  }

 private:
  bool parallel_since_barrier_ = false;
  bool is_owed_ = false;
};

}  // namespace hone

#endif  // HONE_RUNTIME_BARRIER_PLAN_H_
