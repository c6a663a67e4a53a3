// The builders of the zoo, one file a family; zoo.cc lists them.
#ifndef HONE_COMPILER_FRONTEND_ZOO_MODELS_H_
#define HONE_COMPILER_FRONTEND_ZOO_MODELS_H_

#include "compiler/frontend/zoo/net_builder.h"

namespace hone::frontend {

// The factor by which classifiers scale their weights. The operands of softmax then differ by a few
// units only, so that no class gets a probability of almost 1.
inline constexpr double kLastGain = 0.25;

// Each returns the output of a model, and makes its inputs with `net`.
ir::Expr BuildBert(NetBuilder& net);
ir::Expr BuildMlp(NetBuilder& net);
ir::Expr BuildResnet18(NetBuilder& net);
ir::Expr BuildResnet34(NetBuilder& net);
ir::Expr BuildResnet50(NetBuilder& net);
ir::Expr BuildResnet101(NetBuilder& net);
ir::Expr BuildResnet152(NetBuilder& net);
ir::Expr BuildResnet3d(NetBuilder& net);
ir::Expr BuildMobilenet(NetBuilder& net);
ir::Expr BuildMobilenetV2(NetBuilder& net);
ir::Expr BuildInceptionV3(NetBuilder& net);
ir::Expr BuildSqueezenet(NetBuilder& net);
ir::Expr BuildVgg16(NetBuilder& net);
ir::Expr BuildDensenet121(NetBuilder& net);
ir::Expr BuildDcgan(NetBuilder& net);
ir::Expr BuildDqn(NetBuilder& net);
ir::Expr BuildGcn(NetBuilder& net);
ir::Expr BuildLstm(NetBuilder& net);
// A model of `nodes` operators, at least 10.
ir::Expr BuildSynthetic(NetBuilder& net, int64_t nodes);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ZOO_MODELS_H_
