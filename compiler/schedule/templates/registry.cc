#include <algorithm>

#include "compiler/schedule/templates/templates.h"

namespace hone::schedule {

namespace {

bool HasNoElements(const loop::Buffer& buffer) {
  return std::find(buffer->shape.begin(), buffer->shape.end(), 0) != buffer->shape.end();
}

}  // namespace

const Template& TemplateFor(const ops::KernelDefinition& def) {
  // Tiles of nothing are no tiles.
  const std::vector<loop::Buffer>& buffers = def.naive.buffers;
  if (std::any_of(buffers.begin(), buffers.end(), HasNoElements)) return GenericTemplate();
  for (const Template* candidate : {&Conv2dTemplate(), &DepthwiseConv2dTemplate(), &DenseTemplate(),
                                    &PoolTemplate(), &GenericTemplate()}) {
    if (candidate->Matches(def)) return *candidate;
  }
  return GenericTemplate();
}

}  // namespace hone::schedule
