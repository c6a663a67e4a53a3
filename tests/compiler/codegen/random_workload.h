// Random workloads of every class of operators that there is a template or strategy for.
#ifndef HONE_TESTS_COMPILER_CODEGEN_RANDOM_WORKLOAD_H_
#define HONE_TESTS_COMPILER_CODEGEN_RANDOM_WORKLOAD_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/schedule/config.h"
#include "support/random.h"

namespace hone::codegen {

using Shape = std::vector<int64_t>;

// What the extents of a workload are drawn from: degenerate sizes by themselves, so that they come
// together, and all of them mixed.
enum class Sizes { kOnes, kPrimes, kBelowVector, kAboveVector, kMixed };
inline constexpr int kSizesCount = 5;

// One workload in the making: draws its sizes and writes its text.
class Draw {
 public:
  Draw(Random& random, Sizes sizes) : random_(random), sizes_(sizes) {}

  int64_t Extent(int64_t limit = 67);
  Shape Extents(int rank, int64_t limit = 67);
  // In [0, bound); not a size.
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(random_.Below(static_cast<uint64_t>(bound)));
  }
  bool Once(int64_t times) { return Below(times) == 0; }
  const char* Of(std::initializer_list<const char*> choices) {
    return choices.begin()[Below(static_cast<int64_t>(choices.size()))];
  }

  // Names of a new parameter, of the value of an expression.
  std::string Param(const Shape& shape, const std::string& dtype = "float32",
                    bool constant = false);
  std::string Const(const Shape& shape, const std::string& dtype = "float32") {
    return Param(shape, dtype, true);
  }
  std::string Let(const std::string& expression);
  // The function that returns the value of the last expression.
  std::string Text(const std::string& numerics) const;

 private:
  Random& random_;
  const Sizes sizes_;
  std::vector<std::string> params_;
  std::vector<std::string> values_;
};

// Nothing, or what follows an anchor in models: biases of axis `axis`, a residual, functions.
void DrawEpilogue(Draw& draw, const std::string& value, const Shape& shape, size_t axis);
// "[1, 2]".
std::string List(const Shape& values);

struct Family {
  std::string name;
  std::function<void(Draw&)> make;
  // Configs whose strategy begins so are wanted, where there are any.
  std::string strategy;
  // Whether one of these configs is wanted; empty: any is.
  std::function<bool(const schedule::Config&)> is_wanted = nullptr;
};
inline void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

std::vector<Family> ConvFamilies();
std::vector<Family> ProductFamilies();
std::vector<Family> RowFamilies();
std::vector<Family> ShapeFamilies();
std::vector<Family> ByteFamilies();
std::vector<Family> AllFamilies();

// The first workloads of a family are those of each kind of Sizes, in turn.
std::string RandomWorkload(const Family& family, Random& random, int number);

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_RANDOM_WORKLOAD_H_
