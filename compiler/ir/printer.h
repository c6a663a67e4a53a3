// Graph IR as text, in Relay's manner; ParseModule (parser.h) reads it back to an equal module.
// docs/graph-text.md has the grammar.
#ifndef HONE_COMPILER_IR_PRINTER_H_
#define HONE_COMPILER_IR_PRINTER_H_

#include <string>

#include "compiler/ir/expr.h"

namespace hone::ir {

struct PrintOptions {
  // The bytes of constants of rank 1 and more. Without them the text is for people: it does not
  // parse back.
  bool constants = true;
};

std::string ToText(const Module& module, const PrintOptions& options = {});
// A function literal, or another expression as the statements that compute it.
std::string ToText(const Expr& expr, const PrintOptions& options = {});

// The text of an attribute's value, as after "name=".
std::string ToText(const AttrValue& value);
// "strides=[2, 2], units=3"; "" for none.
std::string ToText(const Attrs& attrs);

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_PRINTER_H_
