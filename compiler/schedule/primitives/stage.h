// Stages of a nest and their loops, as schedules hold them: by name, each with a type of its own.
// The words that follow a stage's name in the name of a loop are written here, or in a family's
// loops.h if only its strategies make such loops (docs/decisions/0035).
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_STAGE_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_STAGE_H_

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::schedule {

// A loop, by the name of its variable, which is unique in a nest. It does not say whether a nest
// has it; Sequence::Find does. A value type.
class Loop {
 public:
  Loop() = default;  // none
  // A loop by its whole name, no matter which stage it is of.
  explicit Loop(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  bool empty() const { return name_.empty(); }
  // The buffer of the stage that made the loop, with which the loop's name begins, and the rest of
  // the name. If the stage is not known, stage() is empty and word() is the whole name.
  std::string_view stage() const;
  std::string_view word() const;

  // The loop of the initialisation that Decompose makes of this one, and back.
  Loop Init() const;
  Loop WithoutInit() const;

  // Names for the loops that a loop is split into. By default they are these two:
  Loop Outer() const { return Part("o"); }
  Loop Inner() const { return Part("i"); }
  // Vectors that are computed at once, and the lanes of a vector; Tile is both of them before they
  // are split.
  Loop Tile() const { return Part("tile"); }
  Loop Vectors() const { return Part("u"); }
  Loop Lanes() const { return Part("vec"); }
  // The lanes of an axis that lies in blocks.
  Loop Lane() const { return Part("lane"); }
  // The rows of a tile that is transposed in registers, and several such tiles side by side.
  Loop Row() const { return Part("row"); }
  Loop Strip() const { return Part("strip"); }
  // Some iterations that go together.
  Loop Block() const { return Part("block"); }
  // The remainders of an index by a stride; indices of different remainders belong to different
  // results.
  Loop Phase() const { return Part("phase"); }
  // Share: runs of iterations that threads share out. Steps: the iterations that are taken at once.
  Loop Share() const { return Part("share"); }
  Loop Steps() const { return Part("u"); }

  friend bool operator==(const Loop& a, const Loop& b) { return a.name_ == b.name_; }
  friend std::ostream& operator<<(std::ostream& out, const Loop& loop) { return out << loop.name_; }

 private:
  friend class Stage;
  Loop(std::string_view stage, std::string_view word);
  Loop Part(std::string_view word) const;

  std::string name_;
  size_t stage_size_ = 0;  // of the name of the stage, with which `name_` begins; 0: not known
  bool is_init_ = false;
};

// A buffer that a stage of the nest fills, and the names of that stage's loops. Families derive
// types from it, with names for the loops that only their strategies make. A value type.
class Stage {
 public:
  Stage() = default;  // none
  explicit Stage(std::string buffer) : buffer_(std::move(buffer)) {}

  const std::string& buffer() const { return buffer_; }
  bool empty() const { return buffer_.empty(); }

  // The loops over an axis of the buffer, over all of them, over an axis of the reduction, and over
  // lanes.
  Loop Axis(size_t axis) const;
  std::vector<Loop> Axes(size_t rank) const;  // the first so many, outermost first
  Loop Reduction(size_t step) const;
  Loop Lane() const { return Named("lane"); }
  // The loop over the parts in which its results are computed (Rfactor).
  Loop Partials() const { return Named("p"); }
  // The loops over what is prefetched of the buffer: over places that lie apart, and over the lines
  // of each.
  Loop PrefetchPlace() const { return Named("ahead"); }
  Loop PrefetchLine() const { return Named("line"); }
  // Whether a loop of this name is one of the stage's, and what such a loop is called in `other`;
  // loops of other stages keep their names.
  bool Owns(std::string_view loop) const;
  std::string NameIn(const Stage& other, const std::string& loop) const;

  // The stage of the sums that CacheWrite or SumLocally takes out of this one.
  Stage Sums() const { return Stage(buffer_ + ".acc"); }
  // The same stage, but its loops are those of the initialisation (Loop::Init).
  Stage Init() const;

  friend bool operator==(const Stage& a, const Stage& b) {
    return a.buffer_ == b.buffer_ && a.is_init_ == b.is_init_;
  }
  friend std::ostream& operator<<(std::ostream& out, const Stage& s) { return out << s.buffer_; }

 protected:
  Loop Named(std::string_view word) const;

 private:
  std::string buffer_;
  bool is_init_ = false;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_STAGE_H_
