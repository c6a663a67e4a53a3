#include "compiler/schedule/templates/templates.h"

namespace hone::schedule {

const Template& TemplateFor(const ops::KernelDefinition& def) {
  for (const Template* candidate : {&Conv2dTemplate()}) {
    if (candidate->Matches(def)) return *candidate;
  }
  return Conv2dTemplate();
}

}  // namespace hone::schedule
