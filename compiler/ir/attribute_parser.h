// Parses the attributes in graph text.
#ifndef HONE_COMPILER_IR_ATTRIBUTE_PARSER_H_
#define HONE_COMPILER_IR_ATTRIBUTE_PARSER_H_

#include <string>
#include <string_view>

#include "compiler/ir/type_parser.h"

namespace hone::ir {

class AttributeParser : public TypeParser {
 public:
  using TypeParser::TypeParser;

 protected:
  // True, with the cursor after '=', if an attribute begins here; otherwise the cursor does not
  // move.
  absl::StatusOr<bool> AttributeName(std::string* name);
  // Parses the value of attribute `name` and adds it to `attrs`. `start` is the position of the
  // name, for errors.
  absl::Status AttributeInto(Attrs* attrs, const std::string& name, size_t start);

 private:
  absl::StatusOr<AttrValue> Attribute();
  absl::StatusOr<AttrValue> Number(std::string_view digits, size_t start);
  absl::StatusOr<AttrValue> AttributeList();
};

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_ATTRIBUTE_PARSER_H_
