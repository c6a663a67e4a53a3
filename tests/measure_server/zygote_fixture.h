// Tests that run candidates in real processes.
#ifndef HONE_TESTS_MEASURE_SERVER_ZYGOTE_FIXTURE_H_
#define HONE_TESTS_MEASURE_SERVER_ZYGOTE_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "measure_server/artifact_cache.h"
#include "measure_server/reference_cache.h"
#include "measure_server/zygote.h"

namespace hone::measure {

// Started before any test has started a thread; for the whole program.
Zygote* StrictZygote();
Zygote* LenientZygote();
// Whose runs may hardly take longer than their candidates.
Zygote* ImpatientZygote();

// Whose candidates run on a device of OpenCL; null where this machine has none.
Zygote* OpenClZygote();
// Whose candidates are contained as on a device, and run on the processor.
Zygote* ContainedHostZygote();
// Which drops what it loaded ahead at once.
Zygote* ForgetfulZygote();
// Whose device does not exist.
Zygote* MissingDeviceZygote();

std::shared_ptr<const Artifact> ToArtifact(const std::string& source,
                                           const std::string& flags = "");

class ZygoteTest : public testing::Test {
 protected:
  ZygoteTest();

  // `flags` are the compiler's.
  std::vector<RunReport> Run(const std::vector<std::string>& sources,
                             const std::string& flags = "");
  void Expect(const std::string& source, RunOutcome outcome, const std::string& message,
              const std::string& flags = "");
  static std::string Contents(const Artifact& artifact);

  CandidateRunner* runner_ = StrictZygote();
  ReferenceCache references_{StrictZygote(), 1 << 20};
  RunRequest request_;
};

}  // namespace hone::measure

#endif  // HONE_TESTS_MEASURE_SERVER_ZYGOTE_FIXTURE_H_
