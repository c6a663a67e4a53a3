// Which of the barriers that a list of launches asks for a team has to keep.
#ifndef HONE_RUNTIME_BARRIER_PLAN_H_
#define HONE_RUNTIME_BARRIER_PLAN_H_

namespace hone {

// Told the launches in order. Between launches that thread 0 runs alone no barrier is needed; what
// it would have ordered for the others is ordered by one before the next launch of all threads.
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

  // Counts on nothing that does not hold behind the launches that `other` was told of, too.
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
