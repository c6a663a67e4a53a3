// A worker process for tests that kill it: fake_worker ADDRESS NAME.
#include <sys/prctl.h>

#include <csignal>

#include "tests/tuner/grpc_worker.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  hone::tuner::GrpcWorker(argv[2], argv[1], 300).Run();
}
