// The two sides of a farm under load, each a process; bench/bench_farm_load.py runs them and
// judges.
//
//   load_bench daemon DATABASE SOCKET [--artifact-bytes N]
//   load_bench workers ADDRESS --targets T… --workers N --measure-ms N [--open-jobs N] …
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <csignal>

#include "bench/load_bench/load_daemon.h"
#include "bench/load_bench/load_workers.h"

int main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  CLI::App app{"A farm under load: builder and devices are simulated, all else is real"};
  app.require_subcommand(1);
  hone::bench::LoadDaemonOptions of_daemon;
  CLI::App& daemon = *app.add_subcommand("daemon", "The daemon, with a builder that does nothing");
  daemon.add_option("database", of_daemon.database)->required();
  daemon.add_option("socket", of_daemon.socket)->required();
  daemon.add_option("--artifact-bytes", of_daemon.artifact_bytes)->default_val(16384);
  hone::bench::LoadWorkersOptions of_workers;
  CLI::App& workers = *app.add_subcommand("workers", "Simulated workers, and jobs for them");
  workers.add_option("address", of_workers.address)->required();
  workers.add_option("--targets", of_workers.targets)->required();
  workers.add_option("--workers", of_workers.workers)->required();
  workers.add_option("--measure-ms", of_workers.measure_ms, "A measurement's length")
      ->default_val(100);
  workers.add_option("--warm-up-s", of_workers.warm_up_s)->default_val(10);
  workers.add_option("--seconds", of_workers.seconds, "Measured after the warm-up")
      ->default_val(30);
  workers.add_option("--open-jobs", of_workers.open_jobs, "Of each target; 0: no jobs")
      ->default_val(0);
  workers.add_option("--tasks", of_workers.tasks, "Of a job")->default_val(16);
  workers.add_option("--trials", of_workers.trials, "Of a task")->default_val(64);
  CLI11_PARSE(app, argc, argv);
  if (daemon.parsed()) return hone::bench::RunLoadDaemon(of_daemon);
  return hone::bench::RunLoadWorkers(of_workers);
}
