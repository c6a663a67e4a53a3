// Collects the lines of a block of code and indents them.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_LINES_H_
#define HONE_COMPILER_CODEGEN_OPENCL_LINES_H_

#include <string>
#include <string_view>

namespace hone::codegen::opencl {

// A value type.
class Lines {
 public:
  explicit Lines(int depth = 0) : depth_(depth) {}

  void Add(std::string_view line) {
    text_.append(static_cast<size_t>(2 * depth_), ' ');
    text_ += line;
    text_ += '\n';
  }
  // Adds "line {" and indents what follows, up to the matching Close.
  void Open(std::string_view line) {
    Add(std::string(line) + (line.empty() ? "{" : " {"));
    ++depth_;
  }
  void Close(std::string_view line = "}") {
    --depth_;
    Add(line);
  }
  // "} else {".
  void Else() {
    Close("} else {");
    ++depth_;
  }
  void Append(const Lines& other) { text_ += other.text_; }

  int depth() const { return depth_; }
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  int depth_;
  std::string text_;
};

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_LINES_H_
