// The tuning log as JSON lines, imported into a store in memory.
#include <sstream>

#include "tests/fuzz/fuzz_input.h"
#include "tuning_db/log_io.h"
#include "tuning_db/store.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hone;
  std::istringstream in{std::string(fuzz::Text(data, size))};
  const auto store = tuning_db::MakeMemoryStore();
  const auto counts = tuning_db::ImportLog(*store, in);
  if (!counts.ok() || counts->records + counts->finals == 0) return 0;
  std::stringstream out;
  fuzz::Require(tuning_db::ExportLog(*store, {}, out).ok(), "what was imported can be exported");
  const auto again = tuning_db::ImportLog(*store, out);
  fuzz::Require(again.ok() && again->records == 0 && again->finals == 0,
                "what was exported is known when it is imported again");
  return 0;
}
