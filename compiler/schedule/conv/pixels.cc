#include "compiler/schedule/conv/pixels.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/product/loops.h"
#include "compiler/schedule/product/output.h"
#include "compiler/schedule/product/sums.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {
namespace {

// Rows are output channels, units the pixels of all spatial axes.
Dense ProductOf(const Conv& conv) {
  Dense product;
  product.view = conv.view;
  product.data = conv.weight;
  product.weight = conv.data;
  product.batched = true;
  product.batch = conv.batch;
  product.rows = conv.out;
  product.units = conv.depth * conv.height * conv.width;
  product.terms = product.steps = conv.in;
  product.lanes = conv.lanes;
  product.times = conv.times;
  product.stream_bytes = conv.stream_bytes;
  product.machine = conv.machine;
  return product;
}

// The data of the next pixels is fetched while the tiles of these are computed: a line a step.
std::vector<int64_t> PixelPrefetches(const Conv& conv, const Config& prefix) {
  const RegisterTile tile = TileOf(prefix);
  const bool has_turns = prefix.String("order") == "n_m" && conv.out > tile.columns &&
                         conv.in / prefix.Int("unroll") > 1;
  return has_turns ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0};
}

class ConvPixelsSchedule {
 public:
  ConvPixelsSchedule(const Task& task, const Conv& conv, const Config& config)
      : conv_(conv),
        config_(config),
        product_(ProductOf(conv)),
        tile_(TileOf(config)),
        s_(task.def->naive),
        out_(Stage(conv.view.output)) {}

  absl::StatusOr<loop::Nest> Run() && {
    for (int axis = 1; axis < conv_.spatial; ++axis) s_.JoinLastAxes(out_.buffer());
    anchor_ = ProductLoops(FuseAroundAnchor(&s_, conv_.view, ""));
    PackChannelsTogether(&s_, conv_.weight, conv_.rank(), 0, tile_.columns);
    const Loop inner = TileDenseOutput(&s_, product_, tile_, config_.String("order"));
    SumInRegisters(&s_, Sums(), inner);
    if (config_.Int("prefetch") != 0) Prefetch();
    Specialise();
    return std::move(s_).Finish();
  }

 private:
  ProductSums Sums() const {
    return {.stage = anchor_,
            .rank = product_.rank(),
            .lanes = product_.lanes,
            .unroll = config_.Int("unroll")};
  }

  void Prefetch() {
    PrefetchOptions options;
    options.ahead = out_.UnitBlocks();
    options.turn = out_.RowBlocks();
    options.inner = anchor_.UnitVectors();
    const bool unrolled = config_.Int("unroll") > 1;
    s_.Prefetch(unrolled ? anchor_.Unrolled() : anchor_.Reduction(0), conv_.data, options);
  }

  void Specialise() {
    s_.Simplify();
    PeelDenseOutput(&s_, product_, tile_);
    for (const Loop& loop : {out_.UnitVectors(), out_.Rows()}) s_.UnrollAll(loop);
    UnrollSums(&s_, Sums());
  }

  const Conv& conv_;
  const Config& config_;
  Dense product_;
  RegisterTile tile_;
  Sequence s_;
  ProductLoops out_;
  ProductLoops anchor_;
};

bool HasConvPixels(const Conv& conv) {
  const bool strides = std::any_of(conv.window.strides.begin(), conv.window.strides.end(),
                                   [](int64_t stride) { return stride != 1; });
  return conv.joins_pixels && conv.kind == ProductKind::kFloat && conv.groups == 1 &&
         !conv.transposed && !conv.copies_data && conv.weight_is_constant && !strides &&
         conv.depth * conv.height * conv.width % conv.lanes == 0;
}

class ConvPixelsPlan final : public Plan {
 public:
  explicit ConvPixelsPlan(std::shared_ptr<const Problem<Conv>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (auto knob = NextTileKnob(TileProblemOf(ProductOf(conv())), prefix)) return knob;
    if (!prefix.Has("unroll")) {
      return IntKnob("unroll", UnrollOptions({2, 4, 8}, conv().in, TileOf(prefix)));
    }
    if (!prefix.Has("order")) return TextKnob("order", {"n_m", "m_n"});
    if (!prefix.Has("prefetch")) return IntKnob("prefetch", PixelPrefetches(conv(), prefix));
    return std::nullopt;
  }
  std::vector<PricedConfig> Ranked() const override {
    const RegisterTile tile = BestTile(TileProblemOf(ProductOf(conv())));
    Config config;
    SetTile(tile, &config);
    config.Set("unroll", UnrollOptions({2, 4}, conv().in, tile).back());
    config.Set("order", std::string("n_m"));
    config.Set("prefetch", PixelPrefetches(conv(), config).back());
    return {{std::move(config)}};
  }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return ConvPixelsSchedule(problem_->task, conv(), config).Run();
  }

 private:
  const Conv& conv() const { return problem_->kernel; }

  const std::shared_ptr<const Problem<Conv>> problem_;
};

}  // namespace

std::unique_ptr<const Plan> OpenConvPixels(const std::shared_ptr<const Problem<Conv>>& problem) {
  if (!HasConvPixels(problem->kernel)) return nullptr;
  return std::make_unique<ConvPixelsPlan>(problem);
}

}  // namespace hone::schedule
