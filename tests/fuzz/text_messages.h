// Messages of the wire as text, which a person can read and a fuzzer can cut and join.
#ifndef HONE_TESTS_FUZZ_TEXT_MESSAGES_H_
#define HONE_TESTS_FUZZ_TEXT_MESSAGES_H_

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <string>
#include <string_view>
#include <vector>

namespace hone::fuzz {

// A message in protobuf's text format, as far as it can be read: what stands before the first
// mistake counts. That the bytes of a message are read right is protobuf's own matter.
template <typename Message>
Message TextMessage(std::string_view text) {
  class Silent final : public google::protobuf::io::ErrorCollector {
    void AddError(int, google::protobuf::io::ColumnNumber, const std::string&) override {}
  };
  Silent silent;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&silent);
  parser.AllowPartialMessage(true);
  Message message;
  parser.ParseFromString(std::string(text), &message);
  return message;
}

// The texts between lines of "---", at most `most`.
inline std::vector<std::string_view> MessageTexts(std::string_view text, size_t most = 32) {
  constexpr std::string_view kBetween = "\n---\n";
  std::vector<std::string_view> texts;
  while (texts.size() < most) {
    const size_t end = text.find(kBetween);
    texts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + kBetween.size());
  }
  return texts;
}

}  // namespace hone::fuzz

#endif  // HONE_TESTS_FUZZ_TEXT_MESSAGES_H_
