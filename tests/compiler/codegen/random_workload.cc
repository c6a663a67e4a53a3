#include "tests/compiler/codegen/random_workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hone::codegen {
namespace {

std::vector<int64_t> Candidates(Sizes sizes) {
  switch (sizes) {
    case Sizes::kOnes:
      return {1};
    case Sizes::kPrimes:
      return {2, 3, 5, 7, 11, 13, 17, 23, 29, 31, 37, 61, 67};
    case Sizes::kBelowVector:
      return {3, 7, 15, 31, 63};
    case Sizes::kAboveVector:
      return {5, 9, 17, 33, 65};
    case Sizes::kMixed:
      return {1,  2,  3,  4,  5,  6,  7,  8,  9,  12, 13, 15,
              16, 17, 20, 24, 31, 32, 33, 37, 48, 63, 64, 65};
  }
  return {};
}

}  // namespace

std::string List(const Shape& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

int64_t Draw::Extent(int64_t limit) {
  std::vector<int64_t> candidates = Candidates(sizes_);
  const int64_t least = candidates.front();
  std::erase_if(candidates, [&](int64_t extent) { return extent > limit; });
  return candidates.empty() ? std::min(least, limit) : candidates[Below(std::ssize(candidates))];
}

Shape Draw::Extents(int rank, int64_t limit) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(Extent(limit));
  return shape;
}

std::string Draw::Param(const Shape& shape, const std::string& dtype, bool constant) {
  const std::string name = fmt::format("p{}", params_.size());
  params_.push_back(fmt::format("{}{}: Tensor[({}{}), {}]", constant ? "const " : "", name,
                                fmt::join(shape, ", "), shape.size() == 1 ? "," : "", dtype));
  return name;
}

std::string Draw::Let(const std::string& expression) {
  values_.push_back(expression);
  return fmt::format("%{}", values_.size() - 1);
}

std::string Draw::Text(const std::string& numerics) const {
  std::string body;
  for (size_t i = 0; i + 1 < values_.size(); ++i) {
    body += fmt::format("%{} = {}; ", i, values_[i]);
  }
  return fmt::format("fn ({}) {{ {}{} }} accumulate=float32 numerics={}", fmt::join(params_, ", "),
                     body, values_.back(), numerics);
}

void DrawEpilogue(Draw& draw, const std::string& value, const Shape& shape, size_t axis) {
  const auto bias = [&] {
    if (draw.Once(2)) {
      return draw.Let(
          fmt::format("nn.bias_add({}, {}, axis={})", value, draw.Const({shape[axis]}), axis));
    }
    Shape broadcast(shape.size() - axis, 1);
    broadcast[0] = shape[axis];
    return draw.Let(fmt::format("add({}, {})", value, draw.Const(broadcast)));
  };
  switch (draw.Below(6)) {
    case 0:
      return;
    case 1:
      draw.Let(fmt::format("nn.relu({})", value));
      return;
    case 2:
      draw.Let(fmt::format("nn.relu({})", bias()));
      return;
    case 3: {
      const std::string biased = bias();
      const std::string sum = draw.Let(fmt::format("add({}, {})", biased, draw.Param(shape)));
      if (draw.Once(2)) draw.Let(fmt::format("nn.relu({})", sum));
      return;
    }
    case 4:
      draw.Let(fmt::format("{}({})", draw.Of({"sigmoid", "tanh", "erf"}), bias()));
      return;
    default: {
      const std::string scaled =
          draw.Let(fmt::format("multiply({}, {})", value, draw.Const(Shape(shape.size(), 1))));
      draw.Let(fmt::format("clip({}, a_max=6.0, a_min=0.0)", scaled));
    }
  }
}

std::vector<Family> AllFamilies() {
  std::vector<Family> all;
  for (const auto& some :
       {ConvFamilies(), ProductFamilies(), RowFamilies(), ShapeFamilies(), ByteFamilies()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::string RandomWorkload(const Family& family, Random& random, int number) {
  Draw draw(random, number < kSizesCount ? static_cast<Sizes>(number)
                                         : static_cast<Sizes>(random.Below(kSizesCount)));
  family.make(draw);
  return draw.Text(draw.Once(4) ? "strict" : "default");
}

}  // namespace hone::codegen
