// The sums of a kernel that threads of a grid can compute in tiles.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_GRID_SUMS_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_GRID_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// A factor that each term of a sum loads, at indices that are linear in the loops' variables.
struct GridFactor {
  struct Dim {
    int64_t extent = 1;          // of the buffer
    int64_t first = 0;           // the index where all loops' variables are 0
    std::vector<int64_t> axes;   // the coefficient of each axis of the results
    std::vector<int64_t> steps;  // and of each loop of a sum
  };
  std::string buffer;
  int64_t element_bytes = 0;
  std::vector<Dim> dims;

  bool DependsOnAxis(size_t axis) const;
  // Whether no index falls as the index of the axis rises. Then results behind the end of the axis
  // load from the buffer or from behind its ends, never from before its beginning.
  bool GoesUpWithAxis(size_t axis) const;
  // The extent, in dimension `dim`, of the smallest box that holds all that is loaded for a tile:
  // `axis_extents` are the extents of its results, and `step_extents` those of the terms of each
  // sum.
  int64_t Extent(size_t dim, const std::vector<int64_t>& axis_extents,
                 const std::vector<int64_t>& step_extents) const;
  // The extents that the buffer needs if the axes and the loops of a sum have these extents: its
  // own or larger ones.
  std::vector<int64_t> ShapeFor(const std::vector<int64_t>& axis_extents,
                                const std::vector<int64_t>& step_extents) const;
};

// A stage that sums, in loops over all axes of its results.
struct GridSums {
  Stage stage;
  std::vector<int64_t> extents;  // of its axes
  std::vector<int64_t> steps;    // extents of the loops of a sum
  // For each load of a term: whether it depends on each of the axes.
  std::vector<std::vector<bool>> loads;
  // What terms load, each buffer once; nullopt where an index is not linear, or where a term loads
  // a buffer at different indices.
  std::optional<std::vector<GridFactor>> factors;

  int64_t Results() const;
  int64_t Terms() const;  // of one sum
};

// The sums of a stage; nullopt where it has another form.
std::optional<GridSums> SumsOfStage(const Sequence& s, const Stage& stage);

// The stage of the run phase that sums the most terms for all of its results together; nullopt:
// none sums.
std::optional<GridSums> MainSums(const Sequence& s);

// Where sums become results: `registers` is the stage of the sums, and `results` goes through the
// same indices in the same order and reads each sum once.
struct ResultStages {
  Stage results, registers;
};
// The results are the stage that reads the sums, if only one does and it reads each at the indices
// of its own result. Else a stage is added that copies the sums.
ResultStages TakeResults(Sequence* s, const GridSums& sums);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_GRID_SUMS_H_
