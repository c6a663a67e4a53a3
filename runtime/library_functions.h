// The functions of a library that is loaded at run time, such as a device's driver.
#ifndef HONE_RUNTIME_LIBRARY_FUNCTIONS_H_
#define HONE_RUNTIME_LIBRARY_FUNCTIONS_H_

#include <dlfcn.h>

#include <string>

namespace hone {

// Fills a table of function pointers, and remembers the first function that the library lacks.
class LibraryFunctions {
 public:
  // `library` is what dlopen returned.
  explicit LibraryFunctions(void* library) : library_(library) {}

  template <typename Function>
  void Find(Function& function, const char* name) {
    FindOptional(function, name);
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  // A function that the library may lack: the pointer is then null.
  template <typename Function>
  void FindOptional(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
  }
  // The name of the first function that is missing; "" if the library has all.
  const std::string& missing() const { return missing_; }

 private:
  void* const library_;
  std::string missing_;
};

}  // namespace hone

#endif  // HONE_RUNTIME_LIBRARY_FUNCTIONS_H_
