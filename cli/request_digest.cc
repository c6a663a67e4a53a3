#include "cli/request_digest.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "compiler/ir/printer.h"
#include "support/digest.h"

namespace hone::cli {

std::string DigestOf(const TuningRequest& request, const TuningWork& work) {
  nlohmann::json models = nlohmann::json::array();
  for (const std::vector<ir::Module>& model : work.models) {
    nlohmann::json specialisations = nlohmann::json::array();
    for (const ir::Module& module : model) {
      specialisations.push_back(Sha256Hex(ir::ToText(module, {.constants = false})));
    }
    models.push_back(std::move(specialisations));
  }
  // A target that is left to the server is whatever its workers have by now.
  const std::string target = request.target.is_given ? work.target.ToString() : "";
  const nlohmann::json asked = {{"models", std::move(models)},
                                {"misses", request.misses},
                                {"target", target},
                                {"threads", request.target.threads},
                                {"trials", request.trials},
                                {"limit_ns", work.spec.limit_ns()},
                                {"seed", request.seed},
                                {"search", request.search},
                                {"priority", request.priority},
                                {"sandbox", request.sandbox},
                                {"device_class", request.device_class},
                                {"full_budget", request.full_budget}};
  return Sha256Hex(asked.dump());
}

}  // namespace hone::cli
