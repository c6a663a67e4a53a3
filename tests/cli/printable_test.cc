#include "cli/printable.h"

#include <gtest/gtest.h>

namespace hone::cli {
namespace {

TEST(Printable, IsOneLineOfUtf8WithoutWhatTerminalsObey) {
  EXPECT_EQ(Printable("gr\u00f6\u00dfe.onnx"), "gr\u00f6\u00dfe.onnx");
  EXPECT_EQ(Printable("a\nb\tc\x1b[2J\x7f"), "a?b?c?[2J?");
  EXPECT_EQ(Printable(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(Printable("a\xff\xc3"), "a\ufffd\ufffd");
  EXPECT_EQ(Printable("\"quoted\\\""), "\"quoted\\\"");
}

TEST(Printable, Utf8StaysAsItIs) {
  EXPECT_EQ(ToUtf8("a\nb"), "a\nb");
  EXPECT_EQ(ToUtf8("a\xff"), "a\ufffd");
}

}  // namespace
}  // namespace hone::cli
