#include "compiler/schedule/primitives/nest_edit.h"

#include <algorithm>

#include "compiler/loop/visit.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Bounds;
using loop::Buffer;
using loop::Expr;
using loop::Nest;
using loop::Stmt;
using loop::StmtKind;

namespace {

// The path is innermost first.
bool FindBelow(const Stmt& s, std::string_view name, Site* site) {
  if (s->kind == StmtKind::kFor && s->var->name == name) {
    site->stmt = s;
    return true;
  }
  for (size_t i = 0; i < s->body.size(); ++i) {
    if (!FindBelow(s->body[i], name, site)) continue;
    site->path.emplace_back(s, i);
    return true;
  }
  return false;
}

void CollectCopies(const Stmt& s, const std::string& name, std::vector<Loop>* copies) {
  if (s->kind == StmtKind::kFor && s->var->name.starts_with(name) &&
      (s->var->name.size() == name.size() || s->var->name[name.size()] == '_')) {
    copies->emplace_back(s->var->name);
  }
  for (const Stmt& child : s->body) CollectCopies(child, name, copies);
}

bool AnyLoopNamed(const Stmt& s, std::string_view name) {
  if (s->kind == StmtKind::kFor && s->var->name == name) return true;
  return std::any_of(s->body.begin(), s->body.end(),
                     [&](const Stmt& child) { return AnyLoopNamed(child, name); });
}

Stmt WithChild(const Stmt& parent, size_t index, Stmt child) {
  std::vector<Stmt> body = parent->body;
  body[index] = std::move(child);
  const bool empty = std::all_of(body.begin(), body.end(), loop::IsEmpty);
  if (parent->kind == StmtKind::kSeq || empty) return loop::Seq(std::move(body));
  if (parent->kind == StmtKind::kIf) {
    const bool otherwise = body.size() > 1 && !loop::IsEmpty(body[1]);
    return loop::If(parent->condition, body[0], otherwise ? body[1] : nullptr);
  }
  auto copy = std::make_shared<loop::StmtNode>(*parent);
  copy->body = std::move(body);
  return copy;
}

}  // namespace

absl::StatusOr<Site> FindLoop(const Nest& nest, const Loop& loop) {
  Site site;
  for (site.launch = 0; site.launch < nest.launches.size(); ++site.launch) {
    if (!FindBelow(nest.launches[site.launch].body, loop.name(), &site)) continue;
    std::reverse(site.path.begin(), site.path.end());
    return site;
  }
  return MissingLoop(nest, loop);
}

absl::Status MissingLoop(const Nest& nest, const Loop& loop) {
  if (loop.stage().empty()) {
    return absl::NotFoundError(fmt::format("the nest has no loop '{}'", loop.name()));
  }
  const Stage stage{std::string(loop.stage())};
  std::vector<std::string> words;
  for (const loop::Launch& launch : nest.launches) {
    for (const Stmt& other : loop::CollectLoops(launch.body)) {
      const std::string& name = other->var->name;
      if (stage.Owns(name)) words.push_back(name.substr(loop.stage().size() + 1));
    }
  }
  return absl::NotFoundError(fmt::format(
      "expected a loop '{}' of stage '{}', found {}", std::string(loop.word()),
      std::string(loop.stage()),
      words.empty() ? "none of that stage" : fmt::format("{}", fmt::join(words, ", "))));
}

std::vector<Loop> LoopCopies(const Nest& nest, const Loop& loop) {
  std::vector<Loop> copies;
  for (const loop::Launch& launch : nest.launches) {
    CollectCopies(launch.body, loop.name(), &copies);
  }
  return copies;
}

bool HasLoop(const Nest& nest, const Loop& loop) {
  return std::any_of(nest.launches.begin(), nest.launches.end(), [&](const loop::Launch& launch) {
    return AnyLoopNamed(launch.body, loop.name());
  });
}

absl::StatusOr<Buffer> FindBuffer(const Nest& nest, std::string_view name) {
  for (const Buffer& buffer : nest.buffers) {
    if (buffer->name == name) return buffer;
  }
  return absl::NotFoundError(fmt::format("the nest has no buffer '{}'", name));
}

void ReplaceAt(Nest* nest, const Site& site, Stmt replacement) {
  for (size_t i = site.path.size(); i-- > 0;) {
    replacement = WithChild(site.path[i].first, site.path[i].second, std::move(replacement));
  }
  nest->launches[site.launch].body = std::move(replacement);
}

Bounds BoundsAt(const Site& site) {
  Bounds bounds;
  for (const auto& [ancestor, child] : site.path) {
    if (ancestor->kind == StmtKind::kFor) bounds.PushLoop(*ancestor);
  }
  return bounds;
}

std::string UniqueLoopName(const Nest& nest, const std::string& name) {
  std::string unique = name;
  for (int i = 1; HasLoop(nest, Loop(unique)); ++i) unique = name + std::to_string(i);
  return unique;
}

namespace {

void AddConjuncts(const Expr& condition, std::vector<Expr>* parts) {
  if (condition->kind == loop::ExprKind::kBinary && condition->binary_op == loop::BinaryOp::kAnd) {
    AddConjuncts(condition->operands[0], parts);
    AddConjuncts(condition->operands[1], parts);
  } else {
    parts->push_back(condition);
  }
}

}  // namespace

std::vector<Expr> ConjunctsOf(const Expr& condition) {
  std::vector<Expr> parts;
  AddConjuncts(condition, &parts);
  return parts;
}

bool Loads(const Expr& e, const Buffer& buffer) {
  if ((e->uses & loop::UseBit(buffer.get())) == 0) return false;
  if (e->kind == loop::ExprKind::kLoad && e->buffer == buffer) return true;
  return std::any_of(e->operands.begin(), e->operands.end(),
                     [&](const Expr& operand) { return Loads(operand, buffer); });
}

bool Loads(const Stmt& s, const Buffer& buffer) {
  bool found = false;
  loop::Walk(s, [&](const Stmt& node) {
    loop::ForEachExpr(*node, [&](const Expr& e) { found = found || Loads(e, buffer); });
    return !found;
  });
  return found;
}

Stmt Around(const std::vector<Stmt>& loops, Stmt body) {
  for (size_t i = loops.size(); i-- > 0;) {
    const Stmt& s = loops[i];
    body = loop::For(s->var, s->min, s->extent, std::move(body), s->loop_kind);
  }
  return body;
}

bool Stores(const Stmt& s, const Buffer& buffer) {
  if (s->kind == StmtKind::kStore && s->buffer == buffer) return true;
  return std::any_of(s->body.begin(), s->body.end(),
                     [&](const Stmt& child) { return Stores(child, buffer); });
}

absl::StatusOr<size_t> WriterOf(const Nest& nest, const Buffer& buffer) {
  std::vector<size_t> writers;
  for (size_t i = 0; i < nest.launches.size(); ++i) {
    if (Stores(nest.launches[i].body, buffer)) writers.push_back(i);
  }
  if (writers.size() == 1) return writers[0];
  return absl::FailedPreconditionError(
      fmt::format("one launch must store to buffer '{}', {} do", buffer->name, writers.size()));
}

void RemoveBuffer(Nest* nest, const Buffer& buffer) { std::erase(nest->buffers, buffer); }

void InsertBuffer(Nest* nest, Buffer buffer) {
  const auto rank = [](loop::Role role) {
    return role == loop::Role::kConstant ? static_cast<int>(loop::Role::kInput)
                                         : static_cast<int>(role);
  };
  auto place = nest->buffers.begin();
  while (place != nest->buffers.end() && rank((*place)->role) <= rank(buffer->role)) ++place;
  nest->buffers.insert(place, std::move(buffer));
}

namespace {

absl::Status CheckStageBody(const Stmt& body, const Buffer& buffer,
                            const std::vector<Stmt>& loops) {
  absl::Status status;
  const auto check = [&](const Buffer& accessed, const std::vector<loop::Expr>& indices) {
    if (accessed != buffer) return;
    for (size_t d = 0; d < indices.size(); ++d) {
      if (!indices[d].SameAs(loops[d]->var)) {
        status = absl::FailedPreconditionError(
            fmt::format("the stage of '{}' must access it at its loops' variables only, found {}",
                        buffer->name, loop::ToText(indices[d])));
      }
    }
  };
  loop::Walk(
      body,
      [&](const Stmt& s) {
        if (s->kind != StmtKind::kStore) return true;
        if (s->buffer != buffer && s->buffer->scope == loop::Scope::kGlobal) {
          status = absl::FailedPreconditionError(
              fmt::format("the stage of '{}' also stores to '{}'", buffer->name, s->buffer->name));
        }
        check(s->buffer, s->indices);
        return true;
      },
      [&](const loop::Expr& e) {
        if (e->kind == loop::ExprKind::kLoad) check(e->buffer, e->operands);
      });
  return status;
}

}  // namespace

absl::StatusOr<StageNest> MatchStage(const Nest& nest, size_t launch, const Buffer& buffer) {
  StageNest stage;
  Stmt s = nest.launches[launch].body;
  std::vector<Stmt> chain;
  while (s->kind == StmtKind::kFor && chain.size() < buffer->shape.size()) {
    chain.push_back(s);
    s = s->body[0];
  }
  stage.body = s;
  // Which loop is which dimension: by the first store below.
  const loop::StmtNode* store = nullptr;
  loop::Walk(s, [&](const Stmt& node) {
    if (store == nullptr && node->kind == StmtKind::kStore && node->buffer == buffer) {
      store = node.get();
    }
    return true;
  });
  const absl::Status mismatch = absl::FailedPreconditionError(fmt::format(
      "the stage of '{}' must be loops over its dimensions around one body", buffer->name));
  if (store == nullptr || chain.size() != buffer->shape.size()) return mismatch;
  for (size_t d = 0; d < buffer->shape.size(); ++d) {
    const auto found = std::find_if(chain.begin(), chain.end(), [&](const Stmt& loop) {
      return loop->var.SameAs(store->indices[d]);
    });
    int64_t min = -1;
    int64_t extent = -1;
    if (found == chain.end() || !loop::IsConstInt((*found)->min, &min) || min != 0 ||
        !loop::IsConstInt((*found)->extent, &extent) || extent < buffer->shape[d]) {
      return mismatch;
    }
    stage.loops.push_back(*found);
  }
  HONE_RETURN_IF_ERROR(CheckStageBody(stage.body, buffer, stage.loops));
  return stage;
}

Stmt WithExtents(const Stmt& launch_body, const StageNest& stage, Stmt body,
                 const std::vector<int64_t>& extents) {
  std::vector<Stmt> chain;
  for (Stmt s = launch_body; chain.size() < extents.size(); s = s->body[0]) chain.push_back(s);
  for (size_t i = chain.size(); i-- > 0;) {
    for (size_t d = 0; d < extents.size(); ++d) {
      if (stage.loops[d] != chain[i]) continue;
      body = loop::For(chain[i]->var, 0, extents[d], std::move(body), chain[i]->loop_kind);
    }
  }
  return body;
}

absl::Status ExtendStage(Nest* nest, const Buffer& buffer, const std::vector<int64_t>& extents) {
  HONE_ASSIGN_OR_RETURN(const size_t writer, WriterOf(*nest, buffer));
  HONE_ASSIGN_OR_RETURN(const StageNest stage, MatchStage(*nest, writer, buffer));
  if (stage.body->kind != StmtKind::kStore || Loads(stage.body->value, buffer)) {
    return absl::FailedPreconditionError(
        fmt::format("only a stage that stores one value for each element can be padded, that of "
                    "'{}' does more",
                    buffer->name));
  }
  Expr inside;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == buffer->shape[d]) continue;
    const Expr below = loop::Lt(stage.loops[d]->var, buffer->shape[d]);
    inside = inside ? loop::And(inside, below) : below;
  }
  if (!inside) return absl::OkStatus();
  const Expr value = loop::Select(inside, stage.body->value, loop::Const(0, buffer->dtype));
  nest->launches[writer].body = WithExtents(
      nest->launches[writer].body, stage, loop::Store(buffer, stage.body->indices, value), extents);
  return absl::OkStatus();
}

absl::Status CheckCovers(const loop::BufferNode& buffer, const std::vector<int64_t>& shape) {
  bool covers = shape.size() == buffer.shape.size();
  for (size_t d = 0; covers && d < shape.size(); ++d) covers = shape[d] >= buffer.shape[d];
  if (!covers) {
    return absl::InvalidArgumentError(
        fmt::format("a larger '{}' has at least the extents [{}], found [{}]", buffer.name,
                    fmt::join(buffer.shape, ", "), fmt::join(shape, ", ")));
  }
  const Layout row_major = Layout::RowMajor(static_cast<int>(shape.size()));
  if (buffer.role != loop::Role::kWorkspace || buffer.layout != row_major) {
    return absl::FailedPreconditionError(
        fmt::format("only row-major workspace can be larger, '{}' is not", buffer.name));
  }
  return absl::OkStatus();
}

void ReplaceShape(Nest* nest, const Buffer& buffer, const std::vector<int64_t>& shape) {
  auto larger = std::make_shared<loop::BufferNode>(*buffer);
  larger->shape = shape;
  *nest = loop::Substitute(*nest, loop::BufferMap{{buffer.get(), Buffer(std::move(larger))}});
}

}  // namespace hone::schedule
