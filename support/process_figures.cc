#include "support/process_figures.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace hone {
namespace {

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The first number behind a word at the beginning of a line.
double NumberAfter(const std::string& text, const std::string& word) {
  const size_t at = text.find("\n" + word);
  double number = 0;
  if (at != std::string::npos) std::istringstream(text.substr(at + 1 + word.size())) >> number;
  return number;
}

}  // namespace

ProcessFigures ReadProcessFigures(const std::string& root) {
  const std::string proc = root + "/proc";
  ProcessFigures figures;
  const auto ticks_a_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto page_bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
  // proc(5): the name of the program, in brackets, may hold anything.
  std::string stat = TextOf(proc + "/self/stat");
  const size_t name_end = stat.rfind(')');
  std::istringstream fields(name_end == std::string::npos ? "" : stat.substr(name_end + 1));
  std::string skipped;
  double user = 0;
  double system = 0;
  double start = 0;
  double pages = 0;
  for (int field = 3; field <= 13; ++field) fields >> skipped;
  fields >> user >> system;
  for (int field = 16; field <= 19; ++field) fields >> skipped;
  fields >> figures.threads >> skipped >> start >> figures.virtual_bytes >> pages;
  figures.cpu_seconds = (user + system) / ticks_a_second;
  figures.resident_bytes = pages * page_bytes;
  const double booted = NumberAfter("\n" + TextOf(proc + "/stat"), "btime");
  if (start > 0) figures.start_time_seconds = booted + start / ticks_a_second;
  figures.most_descriptors = NumberAfter("\n" + TextOf(proc + "/self/limits"), "Max open files");
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(proc + "/self/fd", error)) {
    figures.open_descriptors += !entry.path().empty();
  }
  return figures;
}

}  // namespace hone
