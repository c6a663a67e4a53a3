#include "compiler/passes/layout_choice.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "compiler/passes/layout_assignment.h"
#include "compiler/passes/pbqp.h"

namespace hone::passes {
namespace {

constexpr int kMostSharedLayouts = 4;  // of a value whose sets of layouts are alternatives
constexpr int kMostSweeps = 32;
constexpr double kRounding = 1e-9;  // of what is compared; below it, rounding

struct Reader {
  size_t kernel = 0;
  size_t operand = 0;
};

std::vector<std::vector<Reader>> ReadersOf(const LayoutProblem& problem) {
  std::vector<std::vector<Reader>> readers(problem.values.size());
  for (size_t k = 0; k < problem.kernels.size(); ++k) {
    const std::vector<int>& operands = problem.kernels[k].operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      readers[static_cast<size_t>(operands[i])].push_back({k, i});
    }
  }
  return readers;
}

// A value lies in one layout and is copied to others.
struct Presence {
  int lies_in = 0;
  unsigned copies = 0;  // a bit a layout
  bool Has(int layout) const { return layout == lies_in || (copies >> layout & 1) != 0; }
};

// The problem as a graph of costs: node k is kernel k.
class CostGraph {
 public:
  explicit CostGraph(const LayoutProblem& problem) : problem_(problem) {
    for (const LayoutKernel& kernel : problem.kernels) {
      std::vector<double> costs;
      for (const LayoutOption& option : kernel.options) costs.push_back(option.ns);
      graph_.AddNode(std::move(costs));
    }
    std::vector<int> producers(problem.values.size(), -1);
    for (size_t k = 0; k < problem.kernels.size(); ++k) {
      const int result = problem.kernels[k].result;
      if (result >= 0) producers[static_cast<size_t>(result)] = static_cast<int>(k);
    }
    const std::vector<std::vector<Reader>> readers = ReadersOf(problem);
    for (size_t v = 0; v < problem.values.size(); ++v) {
      AddValue(problem.values[v], producers[v], readers[v]);
    }
  }

  ChosenLayouts Solve() {
    Pbqp::Solution solution = graph_.Solve();
    solution.choice.resize(problem_.kernels.size());
    return {std::move(solution.choice), solution.is_exact && !is_approximate_};
  }

 private:
  const std::vector<LayoutOption>& OptionsOf(size_t kernel) const {
    return problem_.kernels[kernel].options;
  }

  void AddValue(const LayoutValue& value, int producer, const std::vector<Reader>& readers) {
    if (value.layouts == 1) return;
    const size_t reads = readers.size() + value.readers.size();
    if (reads > 1 && value.layouts <= kMostSharedLayouts) {
      AddShared(value, producer, readers);
      return;
    }
    is_approximate_ |= reads > 1;
    for (int layout : value.readers) AddFixedReader(value, producer, layout);
    for (const Reader& reader : readers) AddOnlyReader(value, producer, reader);
  }

  void AddFixedReader(const LayoutValue& value, int producer, int layout) {
    if (producer < 0) return;
    std::vector<double> costs;
    for (const LayoutOption& option : OptionsOf(static_cast<size_t>(producer))) {
      costs.push_back(value.CopyNs(option.result, layout));
    }
    graph_.AddToNode(producer, costs);
  }

  void AddOnlyReader(const LayoutValue& value, int producer, const Reader& reader) {
    std::vector<double> costs;
    const auto add_row = [&](int lies_in) {
      for (const LayoutOption& option : OptionsOf(reader.kernel)) {
        costs.push_back(value.CopyNs(lies_in, option.operands[reader.operand]));
      }
    };
    if (producer < 0) {
      add_row(value.fixed);
      graph_.AddToNode(static_cast<int>(reader.kernel), costs);
      return;
    }
    for (const LayoutOption& option : OptionsOf(static_cast<size_t>(producer))) {
      add_row(option.result);
    }
    graph_.AddEdge(producer, static_cast<int>(reader.kernel), std::move(costs));
  }

  // A node whose alternatives say in which layouts the value is kept.
  void AddShared(const LayoutValue& value, int producer, const std::vector<Reader>& readers) {
    const std::vector<Presence> presences = PresencesOf(value, producer, readers);
    std::vector<double> costs;
    for (const Presence& presence : presences) {
      double ns = 0;
      for (int to = 0; to < value.layouts; ++to) {
        if ((presence.copies >> to & 1) != 0) ns += value.CopyNs(presence.lies_in, to);
      }
      costs.push_back(ns);
    }
    const int node = graph_.AddNode(std::move(costs));
    if (producer >= 0) {
      AddConstraint(node, presences, static_cast<size_t>(producer),
                    [](const Presence& presence, const LayoutOption& option) {
                      return presence.lies_in == option.result;
                    });
    }
    for (const Reader& reader : readers) {
      AddConstraint(node, presences, reader.kernel,
                    [&](const Presence& presence, const LayoutOption& option) {
                      return presence.Has(option.operands[reader.operand]);
                    });
    }
  }

  template <typename Allows>
  void AddConstraint(int node, const std::vector<Presence>& presences, size_t kernel,
                     const Allows& allows) {
    std::vector<double> costs;
    for (const Presence& presence : presences) {
      for (const LayoutOption& option : OptionsOf(kernel)) {
        costs.push_back(allows(presence, option) ? 0 : kNever);
      }
    }
    graph_.AddEdge(node, static_cast<int>(kernel), std::move(costs));
  }

  // With no more copies than some reader could want, and those that readers without a choice need.
  std::vector<Presence> PresencesOf(const LayoutValue& value, int producer,
                                    const std::vector<Reader>& readers) const {
    unsigned wanted = 0;
    unsigned needed = 0;
    unsigned produced = producer < 0 ? 1u << value.fixed : 0;
    if (producer >= 0) {
      for (const LayoutOption& option : OptionsOf(static_cast<size_t>(producer))) {
        produced |= 1u << option.result;
      }
    }
    for (int layout : value.readers) needed |= 1u << layout;
    for (const Reader& reader : readers) {
      for (const LayoutOption& option : OptionsOf(reader.kernel)) {
        wanted |= 1u << option.operands[reader.operand];
      }
    }
    std::vector<Presence> presences;
    for (int lies_in = 0; lies_in < value.layouts; ++lies_in) {
      const unsigned itself = 1u << lies_in;
      if ((produced & itself) == 0) continue;
      for (unsigned copies = 0; copies < 1u << value.layouts; ++copies) {
        const bool is_useful = (copies & itself) == 0 && (copies & ~(wanted | needed)) == 0 &&
                               (needed & ~(copies | itself)) == 0;
        if (is_useful) presences.push_back({lies_in, copies});
      }
    }
    return presences;
  }

  const LayoutProblem& problem_;
  Pbqp graph_;
  bool is_approximate_ = false;
};

// Moves kernels, one at a time, to where the total is less, until none can.
LayoutChoice Improve(const LayoutProblem& problem, const LayoutChoice& choice) {
  LayoutAssignment assignment(problem);
  for (size_t k = 0; k < choice.size(); ++k) assignment.Take(k, choice[k]);
  bool has_moved = true;
  for (int sweep = 0; sweep < kMostSweeps && has_moved; ++sweep) {
    has_moved = false;
    for (size_t k = 0; k < choice.size(); ++k) {
      int best = assignment.choice()[k];
      double least = assignment.NsAround(k) * (1 - kRounding);
      const int options = static_cast<int>(problem.kernels[k].options.size());
      const int before = best;
      for (int option = 0; option < options; ++option) {
        if (option == before) continue;
        assignment.Drop(k);
        assignment.Take(k, option);
        const double ns = assignment.NsAround(k);
        if (ns >= least) continue;
        least = ns;
        best = option;
      }
      assignment.Drop(k);
      assignment.Take(k, best);
      has_moved |= best != before;
    }
  }
  return assignment.choice();
}

// What a reader pays at least for a value that lies in this layout.
double LeastCopyNs(const LayoutProblem& problem, const LayoutValue& value, int layout,
                   const Reader& reader) {
  double least = kNever;
  for (const LayoutOption& option : problem.kernels[reader.kernel].options) {
    least = std::min(least, value.CopyNs(layout, option.operands[reader.operand]));
  }
  return least;
}

}  // namespace

LayoutChoice ChooseGreedily(const LayoutProblem& problem) {
  const std::vector<std::vector<Reader>> readers = ReadersOf(problem);
  LayoutAssignment assignment(problem);
  for (size_t k = 0; k < problem.kernels.size(); ++k) {
    const LayoutKernel& kernel = problem.kernels[k];
    int best = 0;
    double least = kNever;
    for (size_t o = 0; o < kernel.options.size(); ++o) {
      assignment.Take(k, static_cast<int>(o));
      double ns = assignment.NsAround(k);
      assignment.Drop(k);
      if (kernel.result >= 0) {
        const auto result = static_cast<size_t>(kernel.result);
        for (const Reader& reader : readers[result]) {
          ns += LeastCopyNs(problem, problem.values[result], kernel.options[o].result, reader);
        }
      }
      if (ns >= least) continue;
      best = static_cast<int>(o);
      least = ns;
    }
    assignment.Take(k, best);
  }
  return assignment.choice();
}

ChosenLayouts ChooseLayouts(const LayoutProblem& problem) {
  ChosenLayouts solved = CostGraph(problem).Solve();
  if (solved.is_exact) return solved;
  LayoutChoice improved = Improve(problem, solved.choice);
  LayoutChoice other = Improve(problem, ChooseGreedily(problem));
  const bool other_is_less = TotalNs(problem, other) < TotalNs(problem, improved);
  return {other_is_less ? std::move(other) : std::move(improved), false};
}

}  // namespace hone::passes
