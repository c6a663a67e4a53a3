#include "compiler/loop/interpreter.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>

#include "compiler/loop/interpreter_code.h"
#include "compiler/loop/interpreter_compiler.h"
#include "compiler/loop/scalar.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::loop {
namespace {

using interpreter::Action;
using interpreter::Compiler;
using interpreter::Frame;

// What memory holds before it is written: nothing that could pass for a result.
void Poison(void* memory, DataType dtype, int64_t elements) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (dtype == DataType::kFloat32) {
    std::fill_n(static_cast<float*>(memory), elements, static_cast<float>(nan));
  } else if (dtype == DataType::kFloat64) {
    std::fill_n(static_cast<double*>(memory), elements, nan);
  } else if (IsFloat(dtype)) {
    const uint16_t bits = dtype == DataType::kFloat16 ? EncodeFloat16(nan) : EncodeBFloat16(nan);
    std::fill_n(static_cast<uint16_t*>(memory), elements, bits);
  } else {
    std::memset(memory, 0x5B, static_cast<size_t>(elements * SizeBytes(dtype)));
  }
}

class Machine {
 public:
  Machine(Frame& frame, bool reverse) : frame_(frame), reverse_(reverse) {}

  void Run(const Action& action) {
    switch (action.kind) {
      case StmtKind::kFor:
        return RunFor(action);
      case StmtKind::kStore:
        return action.store(action, frame_);
      case StmtKind::kSeq:
        for (const Action* child : action.body) Run(*child);
        return;
      case StmtKind::kIf:
        if (action.value->i(*action.value, frame_) != 0) return Run(*action.body[0]);
        if (action.body.size() == 2) Run(*action.body[1]);
        return;
      case StmtKind::kWhile:
        while (!frame_.failed && action.value->i(*action.value, frame_) != 0) Run(*action.body[0]);
        return;
      case StmtKind::kAlloc:
        Poison(frame_.memory[action.memory], action.dtype, action.elements);
        return Run(*action.body[0]);
      case StmtKind::kBarrier:
      case StmtKind::kCommit:
      case StmtKind::kPrefetch:
        return;
    }
  }

 private:
  void RunFor(const Action& action) {
    const int64_t min = action.min->i(*action.min, frame_);
    const int64_t extent = action.extent->i(*action.extent, frame_);
    const Action& body = *action.body[0];
    const bool backwards = reverse_ && action.reversible;
    const int64_t first = backwards ? min + extent - 1 : min;
    const int64_t step = backwards ? -1 : 1;
    for (const Action::Move& move : action.moves) {
      frame_.cells[move.cell] += move.coefficient * first;
    }
    int64_t value = first;
    for (int64_t n = 0; n < extent && !frame_.failed; ++n, value += step) {
      frame_.slots[action.slot] = value;
      Run(body);
      for (const Action::Move& move : action.moves) {
        frame_.cells[move.cell] += move.coefficient * step;
      }
    }
    for (const Action::Move& move : action.moves) {
      frame_.cells[move.cell] -= move.coefficient * value;
    }
  }

  Frame& frame_;
  const bool reverse_;
};

}  // namespace

absl::Status Interpret(const Nest& nest, const std::vector<void*>& buffers,
                       const InterpretOptions& options) {
  if (buffers.size() != nest.buffers.size()) {
    return absl::InternalError(fmt::format("nest {} has {} buffers, {} were given", nest.name,
                                           nest.buffers.size(), buffers.size()));
  }
  Compiler compiler;
  for (const Buffer& buffer : nest.buffers) compiler.MemoryOf(buffer);
  std::vector<std::pair<const Launch*, const Action*>> launches;
  for (Phase phase : {Phase::kPrepare, Phase::kRun}) {
    for (const Launch& launch : nest.launches) {
      if (launch.phase != phase) continue;
      launches.emplace_back(&launch, compiler.Compile(launch.body, Bounds()));
    }
  }
  HONE_RETURN_IF_ERROR(compiler.status());

  std::vector<int64_t> slots(static_cast<size_t>(compiler.slots()) + 1);
  std::vector<int64_t> cells = compiler.cells();
  std::vector<void*> memory;
  std::deque<std::vector<uint64_t>> owned;
  for (size_t i = 0; i < compiler.buffers().size(); ++i) {
    const BufferNode& buffer = *compiler.buffers()[i];
    if (i < buffers.size() && buffers[i] != nullptr) {
      memory.push_back(buffers[i]);
      continue;
    }
    const bool known = i < buffers.size() || buffer.scope != Scope::kGlobal;
    const bool ours = buffer.scope != Scope::kGlobal || buffer.role == Role::kWorkspace ||
                      buffer.role == Role::kPrepared;
    if (!known || !ours) {
      return absl::InternalError(
          fmt::format("nest {}: no memory for buffer %{}", nest.name, buffer.name));
    }
    owned.emplace_back(static_cast<size_t>(buffer.SizeBytes() / 8 + 1));
    memory.push_back(owned.back().data());
    Poison(owned.back().data(), buffer.dtype, buffer.layout.ElementCount(buffer.shape));
  }
  Frame frame{slots.data(), cells.data(), memory.data(), false, ""};
  Machine machine(frame, options.reverse_grid);
  for (const auto& [launch, action] : launches) {
    machine.Run(*action);
    if (frame.failed) {
      return absl::InternalError(
          fmt::format("nest {}, launch {}: {}", nest.name, launch->name, frame.error));
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::loop
