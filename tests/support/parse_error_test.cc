#include "support/parse_error.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>

namespace hone {
namespace {

// What is said of a line of flags that a program does not take.
std::string Said(const std::string& line) {
  CLI::App app("a program", "program");
  std::string database;
  std::string server;
  std::string key;
  std::string role;
  std::string wanted;
  int days = 0;
  CLI::Option* const of_db = app.add_option("--db", database);
  CLI::Option* const of_server = app.add_option("--server", server)->excludes(of_db);
  app.add_option("--key", key)->needs(of_server);
  app.add_option("--role", role)->check(CLI::IsMember({"read", "work"}));
  app.add_option("--days", days)->check(CLI::Range(1, 9));
  app.add_option("NAME", wanted)->required();
  try {
    app.parse(line);
  } catch (const CLI::ParseError& error) {
    return SentenceOf(error);
  }
  return "";
}

TEST(ParseError, IsSaidInSentencesOfOurs) {
  EXPECT_EQ(Said("me"), "");
  EXPECT_EQ(Said(""), "expected NAME, found none");
  EXPECT_EQ(Said("me --bd=x"), "expected the flags and arguments of this verb, found '--bd=x'");
  EXPECT_EQ(Said("me --server=a --db=b"), "expected --db or --server, found both");
  EXPECT_EQ(Said("me --key=a"), "expected --server beside --key, found none");
  EXPECT_EQ(Said("me --db"), "expected a value for --db, found none");
  EXPECT_EQ(Said("me --days=0"), "expected a number from 1 to 9 for --days, found '0'");
  EXPECT_EQ(Said("me --role=boss"), "expected one of read, work for --role, found 'boss'");
}

}  // namespace
}  // namespace hone
