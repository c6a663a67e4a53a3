#include "tests/compiler/schedule/nest_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/interpreter.h"
#include "compiler/loop/operator_cost.h"
#include "compiler/loop/scalar.h"
#include "compiler/loop/visit.h"
#include "gtest/gtest.h"

namespace hone::schedule {
namespace {

int64_t Count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

// Calls visit(logical index, row-major position).
void ForEachIndex(const std::vector<int64_t>& shape,
                  const std::function<void(const std::vector<int64_t>&, int64_t)>& visit) {
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t position = 0; position < Count(shape); ++position) {
    visit(index, position);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

template <typename T>
void PutAs(void* memory, int64_t offset, double value) {
  static_cast<T*>(memory)[offset] = static_cast<T>(value);
}

void Put(DataType dtype, void* memory, int64_t offset, double value) {
  switch (dtype) {
    case DataType::kFloat32:
      return PutAs<float>(memory, offset, value);
    case DataType::kFloat64:
      return PutAs<double>(memory, offset, value);
    case DataType::kBFloat16:
      return PutAs<uint16_t>(memory, offset, loop::EncodeBFloat16(value));
    case DataType::kFloat16:
      return PutAs<uint16_t>(memory, offset, loop::EncodeFloat16(value));
    case DataType::kInt32:
      return PutAs<int32_t>(memory, offset, value);
    case DataType::kInt64:
      return PutAs<int64_t>(memory, offset, value);
    case DataType::kInt8:
      return PutAs<int8_t>(memory, offset, value);
    case DataType::kUInt8:
    case DataType::kBool:
      return PutAs<uint8_t>(memory, offset, value);
    default:
      FAIL() << "no test data of this type";
  }
}

double Get(DataType dtype, const void* memory, int64_t offset) {
  switch (dtype) {
    case DataType::kFloat32:
      return static_cast<const float*>(memory)[offset];
    case DataType::kFloat64:
      return static_cast<const double*>(memory)[offset];
    case DataType::kBFloat16:
      return loop::DecodeBFloat16(static_cast<const uint16_t*>(memory)[offset]);
    case DataType::kFloat16:
      return loop::DecodeFloat16(static_cast<const uint16_t*>(memory)[offset]);
    case DataType::kInt32:
      return static_cast<const int32_t*>(memory)[offset];
    case DataType::kInt64:
      return static_cast<double>(static_cast<const int64_t*>(memory)[offset]);
    case DataType::kInt8:
      return static_cast<const int8_t*>(memory)[offset];
    case DataType::kUInt8:
    case DataType::kBool:
      return static_cast<const uint8_t*>(memory)[offset];
    default:
      ADD_FAILURE() << "no test data of this type";
      return 0;
  }
}

std::vector<int64_t> PaddedShape(const loop::BufferNode& buffer) {
  std::vector<int64_t> padded;
  for (size_t d = 0; d < buffer.shape.size(); ++d) {
    padded.push_back(buffer.layout.PaddedExtent(static_cast<int>(d), buffer.shape[d]));
  }
  return padded;
}

bool IsPad(const loop::BufferNode& buffer, const std::vector<int64_t>& index) {
  for (size_t d = 0; d < index.size(); ++d) {
    if (index[d] >= buffer.shape[d]) return true;
  }
  return false;
}

std::vector<double> ReadOutput(const loop::BufferNode& buffer, const void* memory) {
  std::vector<double> values;
  ForEachIndex(PaddedShape(buffer), [&](const std::vector<int64_t>& index, int64_t) {
    const double value = Get(buffer.dtype, memory, buffer.layout.Offset(index, buffer.shape));
    if (!IsPad(buffer, index)) {
      values.push_back(value);
    } else if (value != 0) {
      ADD_FAILURE() << "a pad lane of " << buffer.name << " holds " << value;
    }
  });
  return values;
}

void PutAll(const loop::BufferNode& buffer, const std::vector<double>& values, void* memory) {
  ASSERT_EQ(static_cast<int64_t>(values.size()), Count(buffer.shape)) << buffer.name;
  ForEachIndex(buffer.shape, [&](const std::vector<int64_t>& index, int64_t position) {
    Put(buffer.dtype, memory, buffer.layout.Offset(index, buffer.shape),
        values[static_cast<size_t>(position)]);
  });
}

// Integers of the domain; where they ascend, from one end to the other.
void PutDomain(const loop::BufferNode& buffer, Random& random, void* memory) {
  const auto count = static_cast<uint64_t>(buffer.domain_high - buffer.domain_low) + 1;
  std::vector<double> values;
  for (int64_t i = 0; i < Count(buffer.shape); ++i) {
    values.push_back(buffer.domain_low + static_cast<double>(random.Below(count)));
  }
  if (buffer.ascending) {
    values.front() = buffer.domain_low;
    values.back() = buffer.domain_high;
    std::sort(values.begin(), values.end());
  }
  PutAll(buffer, values, memory);
}

// Whether the node's value may be no integer: a function, a division, a part of a whole.
bool MakesFractions(const loop::Expr& e) {
  const bool is_part =
      e->kind == loop::ExprKind::kFloat && std::floor(e->float_value) != e->float_value;
  return is_part || loop::CostOfOperator(e) != loop::OperatorCost::kCheap;
}

// Whether a stage sums or multiplies what may be no small integers, so that the order tells.
bool SumsFractions(const loop::Nest& naive) {
  bool has_fractions = false;
  bool sums = false;
  for (const loop::Launch& launch : naive.launches) {
    loop::Walk(launch.body, [&](const loop::Stmt& s) {
      if (s->kind != loop::StmtKind::kStore) return true;
      const bool multiplies =
          s->value->kind == loop::ExprKind::kBinary && s->value->binary_op == loop::BinaryOp::kMul;
      loop::Walk(s->value, [&](const loop::Expr& e) { has_fractions |= MakesFractions(e); });
      sums |= loop::Accumulates(*s) && (has_fractions || multiplies);
      return true;
    });
  }
  return sums;
}

}  // namespace

std::vector<std::vector<double>> RunNest(const loop::Nest& nest, uint64_t seed, bool reverse_grid,
                                         const GivenElements& given) {
  std::vector<std::vector<uint8_t>> memory(nest.buffers.size());
  std::vector<void*> pointers(nest.buffers.size(), nullptr);
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const loop::BufferNode& buffer = *nest.buffers[i];
    if (buffer.role == loop::Role::kWorkspace || buffer.role == loop::Role::kPrepared) continue;
    const bool output = buffer.role == loop::Role::kOutput;
    memory[i].assign(static_cast<size_t>(buffer.SizeBytes()) + 1, output ? 0x5A : 0);
    pointers[i] = memory[i].data();
    if (output) continue;
    if (const auto elements = given.find(buffer.name); elements != given.end()) {
      PutAll(buffer, elements->second, pointers[i]);
      continue;
    }
    Random random(seed * 1000 + i);
    if (buffer.domain_high > buffer.domain_low) {
      PutDomain(buffer, random, pointers[i]);
      continue;
    }
    ForEachIndex(buffer.shape, [&](const std::vector<int64_t>& index, int64_t) {
      double value = static_cast<double>(random.Below(9)) - 4;
      const bool natural = buffer.dtype == DataType::kBool || buffer.dtype == DataType::kInt64;
      if (natural) value = static_cast<double>(random.Below(2));
      if (buffer.dtype == DataType::kUInt8) value = static_cast<double>(random.Below(256));
      if (buffer.dtype == DataType::kInt8) value = static_cast<double>(random.Below(256)) - 128;
      Put(buffer.dtype, pointers[i], buffer.layout.Offset(index, buffer.shape), value);
    });
  }
  loop::InterpretOptions options;
  options.reverse_grid = reverse_grid;
  const absl::Status status = loop::Interpret(nest, pointers, options);
  EXPECT_TRUE(status.ok()) << status << "\n" << loop::ToText(nest);
  std::vector<std::vector<double>> outputs;
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    if (nest.buffers[i]->role != loop::Role::kOutput) continue;
    outputs.push_back(ReadOutput(*nest.buffers[i], pointers[i]));
  }
  return outputs;
}

void ExpectSameResults(const loop::Nest& naive, const loop::Nest& scheduled, uint64_t seed,
                       const std::string& what, double tolerance) {
  const auto expected = RunNest(naive, seed);
  const auto found = RunNest(scheduled, seed, /*reverse_grid=*/true);
  ASSERT_EQ(expected.size(), found.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i].size(), found[i].size()) << what;
    double largest = 0;
    for (double value : expected[i]) largest = std::max(largest, std::abs(value));
    for (size_t j = 0; j < expected[i].size(); ++j) {
      const bool same = expected[i][j] == found[i][j] ||
                        std::abs(expected[i][j] - found[i][j]) <= tolerance * largest ||
                        (std::isnan(expected[i][j]) && std::isnan(found[i][j]));
      ASSERT_TRUE(same) << what << ": output " << i << " element " << j << ": expected "
                        << expected[i][j] << ", found " << found[i][j] << "\n"
                        << loop::ToText(scheduled);
    }
  }
}

double ToleranceOf(const OpenTask& open, const Config& config) {
  if (open.Amplification(config)) return 1e-5;
  return SumsFractions(open.task().def->naive) ? 1e-6 : 0;
}

ops::KernelDefinition MustLower(const std::string& workload) {
  absl::StatusOr<ops::KernelDefinition> def = ops::LowerWorkload(workload);
  EXPECT_TRUE(def.ok()) << def.status() << "\n" << workload;
  return def.ok() ? *std::move(def) : ops::KernelDefinition();
}

CpuTarget TestTarget(const std::string& text) {
  absl::StatusOr<CpuTarget> target = CpuTarget::Parse(text);
  EXPECT_TRUE(target.ok()) << target.status();
  return target.ok() ? *target : CpuTarget();
}

int CheckStrategy(const std::string& workload, const std::string& strategy,
                  const CpuTarget& target) {
  constexpr int kMost = 2000;
  const ops::KernelDefinition def = MustLower(workload);
  const Template& schedule = TemplateFor(def);
  int checked = 0;
  for (const ir::LayoutSignature& signature :
       schedule.Signatures(def, machine::Machine::For(target))) {
    const OpenTask open = OpenTask::Open({&def, signature, target}).value();
    for (const Config& config : open.space().Enumerate(kMost)) {
      if (!config.Has("strategy") || config.String("strategy") != strategy) continue;
      const std::string what =
          workload + "\n" + signature.ToString() + " " + config.ToText() + "\n";
      const absl::StatusOr<LoweredConfig> lowered = open.Lower(config);
      EXPECT_TRUE(lowered.ok()) << what << lowered.status();
      if (!lowered.ok()) return checked;
      ExpectSameResults(def.naive, lowered->nest, 3, what, ToleranceOf(open, config));
      if (testing::Test::HasFailure()) return checked;
      ++checked;
    }
  }
  return checked;
}

int CheckTemplate(const std::string& workload, const std::string& expected_template,
                  const CpuTarget& target, int samples, uint64_t seed) {
  const ops::KernelDefinition def = MustLower(workload);
  if (def.naive.launches.empty()) return 0;
  const Template& schedule = TemplateFor(def);
  EXPECT_EQ(schedule.name(), expected_template) << workload;
  Random random(seed);
  int checked = 0;
  const auto check = [&](const OpenTask& open, const Config& config) {
    const std::string what =
        workload + "\n" + open.task().signature.ToString() + " " + config.ToText() + "\n";
    const absl::StatusOr<LoweredConfig> lowered = open.Lower(config);
    ASSERT_TRUE(lowered.ok()) << what << lowered.status();
    ExpectSameResults(def.naive, lowered->nest, seed, what, ToleranceOf(open, config));
    ++checked;
  };
  const std::vector<ir::LayoutSignature> signatures =
      schedule.Signatures(def, machine::Machine::For(target));
  for (const ir::LayoutSignature& signature : signatures) {
    const OpenTask open = OpenTask::Open({&def, signature, target}).value();
    const Space space = open.space();
    const Config standard = open.Default();
    EXPECT_TRUE(space.Contains(standard)) << workload << standard.ToText();
    check(open, standard);
    for (int i = 0; i < samples && !testing::Test::HasFatalFailure(); ++i) {
      check(open, space.Sample(random));
    }
    if (testing::Test::HasFailure()) break;
  }
  return checked;
}

}  // namespace hone::schedule
