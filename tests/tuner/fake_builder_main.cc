// A hone-builder that builds nothing, behind the real pool, for tests that kill it.
#include <sys/prctl.h>

#include <csignal>

#include "tests/tuner/fakes.h"
#include "tuner/builder/client/frames.h"

int main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  hone::v1::BuilderHello hello;
  (*hello.mutable_toolchains())["llvm"] = "fake 1";
  hello.add_artifact_kinds(hone::v1::ARTIFACT_KIND_ELF);
  if (!hone::tuner::WriteFrame(1, hello.SerializeAsString()).ok()) return 0;
  hone::tuner::FrameReader reader(0);
  for (;;) {
    const auto frame = reader.Read(-1);
    hone::v1::BuildBatch batch;
    if (!frame.ok() || !batch.ParseFromString(*frame)) return 0;
    for (const hone::v1::BuildRequest& request : batch.requests()) {
      const std::string reply = hone::tuner::FakeBuild(request).SerializeAsString();
      if (!hone::tuner::WriteFrame(1, reply).ok()) return 0;
    }
  }
}
