#include "tests/measure_server/hostile_kernels.h"

#include <iterator>

#include "measure_server/child_channel.h"
#include "tests/measure_server/sample_artifacts.h"

namespace hone::measure {
namespace {

// Runs by now, in `made`: the third and later ones are timed.
std::string Counting(const std::string& fault) {
  return CandidateSource("if (i == 0) ++made; " + fault, "static volatile long made;");
}

// In its run number `when` says a message of its own over whatever it finds open, and then nothing
// more. `numbers` are those of the payload.
std::string Saying(Word word, const std::vector<std::string>& numbers, int when) {
  std::string source =
      "static volatile long made;\n"
      "static long call6(long, long, long, long, long, long, long);\n"
      "static struct { unsigned word; long number; double payload[" +
      std::to_string(numbers.size()) + "]; } said = {" +
      std::to_string(static_cast<uint32_t>(word)) + ", 0, {";
  for (const std::string& number : numbers) source += number + ", ";
  source +=
      "}};\n"
      "static void say(void) {\n"
      "  for (long fd = 0; fd < 256; ++fd)\n"
      "    call6(44, fd, (long)&said, sizeof(said), 0x4000, 0, 0);\n"
      "  for (;;) {}\n"
      "}\n";
  return CandidateSource("if (i == 0 && ++made == " + std::to_string(when) + ") say()", source);
}

const HostileKernel kEverywhere[] = {
    {"EndlessLoop", CandidateSource("for (;;) {}"), RunOutcome::kRunTimeout,
     "its time was over, in the output check"},
    {"EndlessLoopWhenTimed", Counting("if (made > 2) for (;;) {}"), RunOutcome::kRunTimeout,
     "its time was over, while it was timed"},
    {"WildWrite", CandidateSource("*(volatile long*)0x10000 = 1"), RunOutcome::kCrash, "SIGSEGV"},
    {"WildWriteOverTheStack",
     CandidateSource("for (volatile char* at = (volatile char*)&sum;; ++at) *at = 0x5A"),
     RunOutcome::kCrash, "SIG"},
    {"StackOverflow",
     CandidateSource("sum += sink(i)",
                     "static long sink(long n) {"
                     "  volatile char bytes[4096]; bytes[n & 4095] = (char)n;"
                     "  return sink(n + 1) + bytes[0]; }"),
     RunOutcome::kCrash, "SIGSEGV"},
    {"WorkspaceOfATebibyte", CandidateSource("", "#define WORKSPACE_BYTES (1ll << 40)"),
     RunOutcome::kOutOfMemory, "no memory"},
    {"OutputLeftUnwritten", CandidateSource("continue"), RunOutcome::kWrongOutput, "y[0] is nan"},
    {"NotANumber", CandidateSource("sum = __builtin_nanf(\"\")"), RunOutcome::kWrongOutput,
     "y[0] is nan"},
    {"OneElementBeyond", CandidateSource("y[8] = 1"), RunOutcome::kWrongOutput,
     "beyond the ends of buffer y"},
    {"OneElementBefore", CandidateSource("y[-1] = 1"), RunOutcome::kWrongOutput,
     "beyond the ends of buffer y"},
    {"OneElementBeyondTheWorkspace", CandidateSource("((float*)b[3])[64] = 1"), RunOutcome::kCrash,
     "SIGSEGV"},
    {"StopsComputingWhenTimed", Counting("if (made > 2) continue"), RunOutcome::kWrongOutput,
     "(after it was timed)"},
    {"ComputesSomethingElseWhenTimed", Counting("if (made > 2) sum = 1"), RunOutcome::kWrongOutput,
     "(after it was timed)"},
    {"EndlessLoopWhenItPrepares", CandidateSource("", "#define PREPARE for (;;) {}"),
     RunOutcome::kRunTimeout, "its time was over"},
    {"InitialiserAtLoad", CandidateSource("", "#define CONSTRUCTOR call(41, 2, 1, 0)"),
     RunOutcome::kLoadError, "code to run when it is loaded (DT_INIT_ARRAY)"},
    {"InitialiserThatOpensForReading",
     CandidateSource("", "#define CONSTRUCTOR call(257, -100, (long)\"/etc/passwd\", 0)"),
     RunOutcome::kLoadError, "code to run when it is loaded (DT_INIT_ARRAY)"},
    {"InitialiserThatOpensForWriting",
     CandidateSource("", "#define CONSTRUCTOR call(257, -100, (long)\"/tmp/hone-hostile\", 0x41)"),
     RunOutcome::kLoadError, "code to run when it is loaded (DT_INIT_ARRAY)"},
    {"InitialiserByItsName", CandidateSource("", "void _init(void) { for (;;) {} }"),
     RunOutcome::kLoadError, "code to run when it is loaded (DT_INIT)"},
    {"FinaliserAtExit",
     CandidateSource("", "__attribute__((destructor)) static void end(void) { for (;;) {} }"),
     RunOutcome::kLoadError, "code to run when it is closed (DT_FINI_ARRAY)"},
    {"OtherObjectsToLoad", CandidateSource(), RunOutcome::kLoadError,
     "other objects to load (DT_NEEDED)", "-Wl,--no-as-needed -lm"},
    // Which of its functions it is, the loader would have code of it choose (IRELATIVE).
    {"CodeThatIsChosenAtLoad",
     CandidateSource("chosen()",
                     "static void one(void) {}\n"
                     "static void* choose(void) { return one; }\n"
                     "static __attribute__((ifunc(\"choose\"))) void chosen(void);"),
     RunOutcome::kLoadError, "which no compiled module has"},
};

#ifdef __x86_64__
// A round as it would be sent: runs and time of the warm-up, runs a chunk, and for each chunk time,
// calibrator, excess, whether it is clean. The integer 1 is the least double.
const std::vector<std::string> kForgedRound = {
    "0x1p-1074", "1", "0x1p-1074",                                           //
    "1",         "1", "0",         "0x1p-1074", "1", "1", "0", "0x1p-1074",  //
    "1",         "1", "0",         "0x1p-1074", "1", "1", "0", "0x1p-1074"};

const HostileKernel kForgers[] = {
    {"SaysThatItRan", Saying(Word::kRan, {"0"}, 1), RunOutcome::kWrongOutput, "y[0] is nan"},
    {"SaysThatItFailed", Saying(Word::kFailed, {"0"}, 1), RunOutcome::kCrash,
     "says what it was not asked"},
    {"SaysARoundInTheCheck", Saying(Word::kRound, kForgedRound, 1), RunOutcome::kCrash,
     "says what it was not asked"},
    {"SaysARoundThatCannotBe", Saying(Word::kRound, {"0", "0", "0"}, 3), RunOutcome::kCrash,
     "a round that cannot be"},
    {"InventsSamples", Saying(Word::kRound, kForgedRound, 3), RunOutcome::kCrash,
     "was seen to run 0 times"},
};

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
HostileKernel Forbidden(const std::string& name, const std::string& call) {
  return {name, CandidateSource(call), RunOutcome::kCrash, "SIGSYS in the output check"};
}

const HostileKernel kForbidden[] = {
    Forbidden("Forks", "call(57, 0, 0, 0)"),
    Forbidden("StartsAThread", "call(56, 0x10f00, 0, 0)"),
    Forbidden("OpensASocket", "call(41, 2, 1, 0)"),
    Forbidden("OpensForReading", "call(257, -100, (long)\"/etc/passwd\", 0)"),
    Forbidden("OpensForWriting", "call(257, -100, (long)\"/tmp/hone-hostile\", 0x41)"),
    Forbidden("Traces", "call(101, 16, call(39, 0, 0, 0), 0)"),
    Forbidden("OpensByAnotherCall", "call6(437, -100, (long)\"/etc/passwd\", 0, 24, 0, 0)"),
    Forbidden("OpensThroughARing", "call(425, 8, 0, 0)"),
    Forbidden("KillsItsParent", "call(62, call(110, 0, 0, 0), 9, 0)"),
    // Greater than any process's number.
    Forbidden("KillsByNumber", "call(62, 0x7ffffff, 9, 0)"),
    Forbidden("WritesToAnotherProcess", "call6(311, 1, 0, 0, 0, 0, 0)"),
    Forbidden("MakesNewCode", "call6(9, 0, 4096, 7, 0x22, -1, 0)"),
};

#endif
#endif

}  // namespace

std::vector<HostileKernel> HostileKernels() {
  std::vector<HostileKernel> all(std::begin(kEverywhere), std::end(kEverywhere));
#ifdef __x86_64__
  all.insert(all.end(), std::begin(kForgers), std::end(kForgers));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  all.insert(all.end(), std::begin(kForbidden), std::end(kForbidden));
#endif
#endif
  return all;
}

}  // namespace hone::measure
