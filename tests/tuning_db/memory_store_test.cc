#include "tests/tuning_db/conformance.h"

namespace hone::tuning_db {
namespace {

class InMemory final : public StoreFixture {
 public:
  std::unique_ptr<Store> Open() override { return MakeMemoryStore(); }
  bool IsDurable() const override { return false; }
};

INSTANTIATE_TEST_SUITE_P(Memory, Conformance,
                         testing::Values(StoreKind{"memory",
                                                   [] { return std::make_unique<InMemory>(); }}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hone::tuning_db
