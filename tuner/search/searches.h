// The searches: random, grid, and evolution guided by the cost model.
//
// Each batch is a pure function of the state (tuner/search.h): a restarted daemon proposes what it
// would have proposed. The first config proposed for a task is its default.
#ifndef HONE_TUNER_SEARCH_SEARCHES_H_
#define HONE_TUNER_SEARCH_SEARCHES_H_

#include <memory>
#include <string_view>
#include <vector>

#include "tuner/search.h"

namespace hone::tuner {

// Draws configs uniformly at every node of the space.
std::unique_ptr<Search> MakeRandomSearch();

// Proposes the leaves of the space in their order.
std::unique_ptr<Search> MakeGridSearch();

// Proposes the default, and every register tile with the first option of all other knobs: these are
// the configs by which micro-kernels are measured (compiler/schedule/micro_kernels.h).
std::unique_ptr<Search> MakeTileSearch();

struct EvolutionOptions {
  int min_records = 8;  // below, the analytic estimate alone scores
  int population = 48;
  int generations = 3;    // of as many new configs each; one where there is no model yet
  int elites = 16;        // best measured configs in the first population
  double epsilon = 0.08;  // share of the batch that is drawn at random
  int rounds = 60;        // of training
};
// Evolves populations of mutated and crossed configs, scored by a model that is trained on every
// settled trial of the task. Failures are trained on too, with the lowest throughput. Lowered
// candidates and the newest model are cached; answers do not depend on the cache.
std::unique_ptr<Search> MakeEvolutionSearch(EvolutionOptions options = {});

// Makes the search of this name (search_names.h); nullptr for an unknown name.
std::unique_ptr<Search> MakeSearch(std::string_view name);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SEARCH_SEARCHES_H_
