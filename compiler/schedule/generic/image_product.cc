#include "compiler/schedule/generic/image_product.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/generic/memory_order.h"
#include "compiler/schedule/primitives/inline_stage.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

// The axes of an image that become one: samples, lines, columns.
constexpr size_t kPixelAxes = kImageRank - 1;
constexpr size_t kChannelAxis = kPixelAxes;

int64_t CountOf(std::span<const int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

// The place of an element in row-major order, and back.
Expr PlaceOf(std::span<const Expr> indices, std::span<const int64_t> extents) {
  Expr place = indices[0];
  for (size_t d = 1; d < extents.size(); ++d) place = place * Expr(extents[d]) + indices[d];
  return place;
}

std::vector<Expr> IndicesOf(const Expr& place, std::span<const int64_t> extents) {
  std::vector<Expr> indices(extents.size());
  Expr rest = place;
  for (size_t d = extents.size(); d-- > 1;) {
    indices[d] = loop::FloorMod(rest, extents[d]);
    rest = loop::FloorDiv(rest, extents[d]);
  }
  indices[0] = rest;
  return indices;
}

std::span<const int64_t> PixelsOf(const loop::BufferNode& image) {
  return std::span(image.shape).first(kPixelAxes);
}

bool IsImageOf(const loop::BufferNode& buffer, std::span<const int64_t> pixels) {
  return buffer.shape.size() == kImageRank && buffer.layout.IsRowMajor() &&
         std::ranges::equal(PixelsOf(buffer), pixels);
}

Buffer MatrixOf(const loop::BufferNode& image) {
  auto matrix = std::make_shared<loop::BufferNode>(image);
  matrix->shape = {CountOf(PixelsOf(image)), image.shape[kChannelAxis]};
  matrix->layout = Layout::RowMajor(static_cast<int>(matrix->shape.size()));
  return matrix;
}

// Puts other buffers, with other indices, in the place of those that loads and stores name.
class BufferViews : public loop::Mutator {
 public:
  // Makes the indices of the new buffer of those of the old one, in loops of these bounds.
  using Indices = std::function<std::vector<Expr>(const std::vector<Expr>&, const loop::Bounds&)>;

  BufferViews(const loop::BufferMap& views, Indices indices)
      : views_(views), indices_(std::move(indices)) {}

  Expr Rewrite(const Expr& e) override {
    const auto found =
        e->kind == loop::ExprKind::kLoad ? views_.find(e->buffer.get()) : views_.end();
    if (found == views_.end()) return RewriteChildren(e);
    return loop::Load(found->second, IndicesFor(e->operands));
  }
  Stmt Rewrite(const Stmt& s) override {
    if (s->kind == loop::StmtKind::kFor) return RewriteLoop(s);
    const auto found =
        s->kind == loop::StmtKind::kStore ? views_.find(s->buffer.get()) : views_.end();
    if (found == views_.end()) return RewriteChildren(s);
    return loop::Store(found->second, IndicesFor(s->indices), Rewrite(s->value));
  }

 private:
  std::vector<Expr> IndicesFor(const std::vector<Expr>& indices) {
    std::vector<Expr> rewritten;
    for (const Expr& index : indices) rewritten.push_back(Rewrite(index));
    return indices_(rewritten, bounds_);
  }

  Stmt RewriteLoop(const Stmt& s) {
    bounds_.PushLoop(*s);
    Stmt rewritten = RewriteChildren(s);
    bounds_.Pop();
    return rewritten;
  }

  const loop::BufferMap& views_;
  const Indices indices_;
  loop::Bounds bounds_;
};

void ReplaceInTable(loop::Nest* nest, const loop::BufferMap& views) {
  for (Buffer& buffer : nest->buffers) {
    const auto found = views.find(buffer.get());
    if (found != views.end()) buffer = found->second;
  }
}

// A variable that goes through all indices from 0 on.
Expr Bounded(const Loop& loop, int64_t extent, loop::Bounds* bounds) {
  const Expr var = loop::Var(loop.name());
  bounds->Push(var, {0, extent - 1});
  return var;
}

// The convolution: what it sums, in the nest.
struct Convolution {
  Buffer sums, images, filters;
  std::vector<Stmt> axes;   // its loops over samples, lines, columns and channels of the results
  std::vector<Stmt> steps;  // of a sum, over channels last
  Stmt init, term;          // the stores of its body
  Expr image, filter;       // what a term loads

  std::vector<int64_t> StepExtents() const { return ExtentsOf(steps); }
  std::span<const int64_t> Pixels() const { return PixelsOf(*sums); }
  int64_t Terms() const { return CountOf(StepExtents()); }

  static std::vector<int64_t> ExtentsOf(const std::vector<Stmt>& loops) {
    std::vector<int64_t> extents;
    for (const Stmt& loop : loops) extents.push_back(loop->extent->int_value);
    return extents;
  }
};

// The loop of the sums that goes through the last dimension of the factor, and through nothing
// else.
std::optional<size_t> ChannelLoop(const GridFactor& factor, const std::vector<int64_t>& steps) {
  std::optional<size_t> found;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (factor.dims.back().steps[i] == 0) continue;
    const auto uses = [&](const GridFactor::Dim& dim) { return dim.steps[i] != 0; };
    if (found || std::ranges::count_if(factor.dims, uses) != 1) return std::nullopt;
    found = i;
  }
  const GridFactor::Dim& last = factor.dims.back();
  const auto is_zero = [](int64_t coefficient) { return coefficient == 0; };
  if (!found || last.steps[*found] != 1 || last.first != 0 || steps[*found] != last.extent ||
      !std::ranges::all_of(last.axes, is_zero)) {
    return std::nullopt;
  }
  return found;
}

// Whether the factor goes along the channels of the results, and not along their pixels.
bool IsOfChannels(const GridFactor& factor) {
  for (size_t axis = 0; axis < kPixelAxes; ++axis) {
    if (factor.DependsOnAxis(axis)) return false;
  }
  return factor.DependsOnAxis(kChannelAxis);
}

Expr LoadOf(const Stmt& term, const Buffer& buffer) {
  Expr load;
  loop::Walk(term->value, [&](const Expr& e) {
    if (e->kind == loop::ExprKind::kLoad && e->buffer == buffer) load = e;
  });
  return load;
}

std::optional<Convolution> ConvolutionIn(const CopiedSums& copied) {
  const loop::Nest& nest = copied.start.nest();
  const GridSums& sums = copied.sums;
  if (sums.extents.size() != kImageRank || !CopiesFromGlobal(copied) || sums.factors->size() != 2) {
    return std::nullopt;
  }
  const bool filters_first = IsOfChannels(sums.factors->front());
  const GridFactor& of_filters = (*sums.factors)[filters_first ? 0 : 1];
  const GridFactor& of_images = (*sums.factors)[filters_first ? 1 : 0];
  if (!IsOfChannels(of_filters) || of_images.DependsOnAxis(kChannelAxis)) return std::nullopt;
  const std::optional<size_t> channels = ChannelLoop(of_images, sums.steps);
  if (!channels || sums.steps[*channels] * of_images.element_bytes % kBytesCopiedAtOnce != 0) {
    return std::nullopt;
  }
  Convolution conv;
  conv.sums = *FindBuffer(nest, sums.stage.buffer());
  conv.images = *FindBuffer(nest, of_images.buffer);
  conv.filters = *FindBuffer(nest, of_filters.buffer);
  if (conv.filters->role != loop::Role::kConstant) return std::nullopt;
  const StageNest stage = *MatchStage(nest, *WriterOf(nest, conv.sums), conv.sums);
  conv.axes = stage.loops;
  conv.init = stage.body->body[0];
  conv.term = stage.body->body[1];
  while (conv.term->kind == loop::StmtKind::kFor) {
    conv.steps.push_back(conv.term);
    const Stmt inside = conv.term->body[0];
    conv.term = inside;
  }
  const auto channel_loop = conv.steps.begin() + static_cast<ptrdiff_t>(*channels);
  std::rotate(channel_loop, channel_loop + 1, conv.steps.end());
  conv.image = LoadOf(conv.term, conv.images);
  conv.filter = LoadOf(conv.term, conv.filters);
  return conv;
}

Buffer NewBuffer(const loop::BufferNode& of, const char* what, std::vector<int64_t> shape,
                 loop::Role role) {
  auto buffer = std::make_shared<loop::BufferNode>(of);
  buffer->name = of.name + "." + what;
  buffer->shape = std::move(shape);
  buffer->layout = Layout::RowMajor(static_cast<int>(buffer->shape.size()));
  buffer->role = role;
  return buffer;
}

// For each pixel of the results, what its sums load of the images.
Stmt PatchesStage(const Convolution& conv, const Buffer& patches) {
  const Stage stage(patches->name);
  const Expr term = loop::Var(stage.Axis(kChannelAxis).name());
  const std::vector<int64_t> extents = conv.StepExtents();
  const std::vector<Expr> steps = IndicesOf(term, extents);
  loop::VarMap vars;
  for (size_t i = 0; i < steps.size(); ++i) vars[conv.steps[i]->var.get()] = steps[i];
  std::vector<Expr> indices;
  for (size_t d = 0; d < kPixelAxes; ++d) {
    indices.push_back(loop::Var(stage.Axis(d).name()));
    vars[conv.axes[d]->var.get()] = indices.back();
  }
  indices.push_back(term);
  Stmt body = loop::Store(patches, indices, loop::Substitute(conv.image, vars));
  for (size_t d = indices.size(); d-- > 0;) {
    body = loop::For(indices[d], 0, patches->shape[d], std::move(body));
  }
  return body;
}

// The filters, with the terms of each in the order of the patches.
Stmt FiltersStage(const Convolution& conv, const Buffer& filters) {
  const Stage stage(filters->name);
  const Expr channel = loop::Var(stage.Axis(0).name());
  loop::VarMap vars = {{conv.axes[kChannelAxis]->var.get(), channel}};
  const std::vector<int64_t> extents = conv.StepExtents();
  std::vector<Expr> steps;
  for (size_t i = 0; i < extents.size(); ++i) {
    steps.push_back(loop::Var(stage.Axis(1 + i).name()));
    vars[conv.steps[i]->var.get()] = steps.back();
  }
  Stmt body =
      loop::Store(filters, {channel, PlaceOf(steps, extents)}, loop::Substitute(conv.filter, vars));
  for (size_t i = steps.size(); i-- > 0;) {
    body = loop::For(steps[i], 0, extents[i], std::move(body));
  }
  return loop::For(channel, 0, filters->shape[0], std::move(body));
}

// Puts the factors of a product in the place of those of the convolution.
class ProductFactors : public loop::Mutator {
 public:
  ProductFactors(const Convolution& conv, Expr image, Expr filter)
      : conv_(conv), image_(std::move(image)), filter_(std::move(filter)) {}

  using Mutator::Rewrite;
  Expr Rewrite(const Expr& e) override {
    if (e->kind == loop::ExprKind::kLoad && e->buffer == conv_.images) return image_;
    if (e->kind == loop::ExprKind::kLoad && e->buffer == conv_.filters) return filter_;
    return RewriteChildren(e);
  }

 private:
  const Convolution& conv_;
  const Expr image_, filter_;
};

// The sums in one loop over all terms. Loops over the axes stay.
Stmt SumsOfProduct(const Convolution& conv, const Buffer& patches, const Buffer& filters) {
  const Expr term = loop::Var(Stage(conv.sums->name).Reduction(0).name());
  std::vector<Expr> place;
  for (const Stmt& axis : std::span(conv.axes).first(kPixelAxes)) place.push_back(axis->var);
  place.push_back(term);
  ProductFactors factors(conv, loop::Load(patches, place),
                         loop::Load(filters, {conv.axes[kChannelAxis]->var, term}));
  const Stmt sum = factors.Rewrite(conv.term);
  return Around(conv.axes, loop::Seq({conv.init, loop::For(term, 0, conv.Terms(), sum)}));
}

// Puts the patches and the filters into the nest, and the product in the place of the convolution.
absl::Status MakeProduct(loop::Nest* nest, const Convolution& conv, const Buffer& patches,
                         const Buffer& filters) {
  HONE_ASSIGN_OR_RETURN(const size_t launch, WriterOf(*nest, conv.sums));
  nest->launches[launch].body = SumsOfProduct(conv, patches, filters);
  const auto place = nest->launches.begin() + static_cast<ptrdiff_t>(launch);
  nest->launches.insert(place, {patches->name, loop::Phase::kRun, PatchesStage(conv, patches)});
  nest->launches.insert(nest->launches.begin(),
                        {filters->name, loop::Phase::kPrepare, FiltersStage(conv, filters)});
  InsertBuffer(nest, patches);
  InsertBuffer(nest, filters);
  return conv.images->role == loop::Role::kWorkspace ? InlineStage(nest, Stage(conv.images->name))
                                                     : absl::OkStatus();
}

// Lets the stage of an image go through pixels in one loop, where it has the form of one.
void JoinPixels(loop::Nest* nest, const Buffer& image) {
  const absl::StatusOr<size_t> launch = WriterOf(*nest, image);
  if (!launch.ok()) return;
  const absl::StatusOr<StageNest> stage = MatchStage(*nest, *launch, image);
  if (!stage.ok()) return;
  const std::vector<int64_t> extents = MatrixOf(*image)->shape;
  loop::Bounds bounds;
  const Expr pixel = Bounded(Stage(image->name).Axis(0), extents[0], &bounds);
  const Expr channel = Bounded(Stage(image->name).Axis(1), extents[1], &bounds);
  loop::VarMap vars = {{stage->loops[kChannelAxis]->var.get(), channel}};
  const std::vector<Expr> axes = IndicesOf(pixel, PixelsOf(*image));
  for (size_t d = 0; d < axes.size(); ++d) vars[stage->loops[d]->var.get()] = axes[d];
  Stmt body = loop::Substitute(stage->body, vars);
  if (body->kind == loop::StmtKind::kStore) {
    body = loop::Store(body->buffer, body->indices, loop::Simplify(body->value, bounds));
  }
  nest->launches[*launch].body =
      loop::For(pixel, 0, extents[0], loop::For(channel, 0, extents[1], std::move(body)));
}

// The images with these pixels that are no patches' sources.
std::vector<Buffer> ImagesIn(const loop::Nest& nest, std::span<const int64_t> pixels,
                             const Buffer& patches) {
  const loop::Stmt& copy = nest.launches[*WriterOf(nest, patches)].body;
  std::vector<Buffer> images;
  for (const Buffer& buffer : nest.buffers) {
    if (IsImageOf(*buffer, pixels) && !Loads(copy, buffer)) images.push_back(buffer);
  }
  return images;
}

void ViewAsMatrices(loop::Nest* nest, const std::vector<Buffer>& images) {
  loop::BufferMap views;
  for (const Buffer& image : images) {
    JoinPixels(nest, image);
    views[image.get()] = MatrixOf(*image);
  }
  const std::vector<int64_t> pixels(PixelsOf(*images[0]).begin(), PixelsOf(*images[0]).end());
  BufferViews joined(views, [&](const std::vector<Expr>& indices, const loop::Bounds& bounds) {
    const Expr pixel = PlaceOf(std::span(indices).first(kPixelAxes), pixels);
    return std::vector<Expr>{loop::Simplify(pixel, bounds), indices[kChannelAxis]};
  });
  for (loop::Launch& launch : nest->launches) launch.body = joined.Rewrite(launch.body);
  ReplaceInTable(nest, views);
}

}  // namespace

std::optional<ImageProduct> ViewImageProduct(const CopiedSums& copied) {
  const std::optional<Convolution> conv = ConvolutionIn(copied);
  if (!conv) return std::nullopt;
  loop::Nest nest = copied.start.nest();
  const int64_t channels = conv->sums->shape[kChannelAxis];
  std::vector<int64_t> shape = conv->sums->shape;
  shape[kChannelAxis] = conv->Terms();
  const Buffer patches =
      NewBuffer(*conv->images, "patches", std::move(shape), loop::Role::kWorkspace);
  const Buffer filters =
      NewBuffer(*conv->filters, "matrix", {channels, conv->Terms()}, loop::Role::kPrepared);
  if (!MakeProduct(&nest, *conv, patches, filters).ok()) return std::nullopt;
  const std::vector<Buffer> images = ImagesIn(nest, conv->Pixels(), patches);
  std::vector<Buffer> visible;
  for (const Buffer& image : images) {
    if (image->role != loop::Role::kWorkspace) visible.push_back(image);
  }
  ViewAsMatrices(&nest, images);
  Sequence start(std::move(nest));
  std::optional<GridSums> sums = SumsOfStage(start, copied.sums.stage);
  if (!sums || !sums->factors) return std::nullopt;
  return ImageProduct{{std::move(start), {patches->name}, *std::move(sums)}, std::move(visible)};
}

loop::Nest WithImages(const loop::Nest& nest, const std::vector<Buffer>& images) {
  if (images.empty()) return nest;
  loop::BufferMap views;
  for (const Buffer& buffer : nest.buffers) {
    const auto image =
        std::ranges::find(images, buffer->name, [](const Buffer& other) { return other->name; });
    if (image != images.end()) views[buffer.get()] = *image;
  }
  // As they stand here, code generation sees that they are one pixel after the other.
  BufferViews apart(views, [&](const std::vector<Expr>& indices, const loop::Bounds& /*bounds*/) {
    std::vector<Expr> of_image = IndicesOf(indices[0], PixelsOf(*images[0]));
    of_image.push_back(indices[1]);
    return of_image;
  });
  loop::Nest with_images = nest;
  for (loop::Launch& launch : with_images.launches) launch.body = apart.Rewrite(launch.body);
  ReplaceInTable(&with_images, views);
  return with_images;
}

}  // namespace hone::schedule
