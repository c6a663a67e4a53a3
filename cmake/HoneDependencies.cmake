# Debian packages only; scripts/install-deps installs every one of them.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
# The types of OpenCL; its functions come by dlopen.
find_path(OPENCL_INCLUDE_DIR CL/cl.h REQUIRED)

if(HONE_WORKER_ONLY)
  return()
endif()
find_package(SQLite3 REQUIRED)
find_package(PostgreSQL REQUIRED) # the client's library
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(LLVM 19.1 REQUIRED CONFIG PATHS /usr/lib/llvm-19/lib/cmake/llvm NO_DEFAULT_PATH)
pkg_check_modules(GRAPHVIZ REQUIRED IMPORTED_TARGET libgvc libcgraph)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

# LLVM's one shared library, and lld's static ones on top of it, for in-process links. Without
# LLVM_DEFINITIONS: they ask the C library for what C++ has by itself since C++11.
add_library(hone_llvm INTERFACE)
target_include_directories(hone_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(
  hone_llvm INTERFACE ${LLVM_LIBRARY_DIRS}/liblldELF.a ${LLVM_LIBRARY_DIRS}/liblldCommon.a
                      ${LLVM_LIBRARY_DIRS}/libLLVM-19.so ZLIB::ZLIB PkgConfig::ZSTD)

# An allocator for programs that build one candidate after the other, whose nests and LLVM modules are
# many small nodes: with it a candidate took 0.80 to 0.96 of the time that it takes with the C
# library's (Zen 4). Sanitizers have their own.
find_package(mimalloc REQUIRED)
add_library(hone_node_allocator INTERFACE)
if(NOT HONE_SANITIZER)
  target_link_libraries(hone_node_allocator INTERFACE mimalloc)
endif()

find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h REQUIRED)
find_library(XGBOOST_LIBRARY xgboost REQUIRED)
add_library(hone_xgboost INTERFACE)
target_include_directories(hone_xgboost SYSTEM INTERFACE ${XGBOOST_INCLUDE_DIR})
target_link_libraries(hone_xgboost INTERFACE ${XGBOOST_LIBRARY})

find_path(ONNX_INCLUDE_DIR onnx/onnx-ml.pb.h REQUIRED)
find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
add_library(hone_onnx_proto INTERFACE)
target_include_directories(hone_onnx_proto SYSTEM INTERFACE ${ONNX_INCLUDE_DIR})
target_compile_definitions(hone_onnx_proto INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
target_link_libraries(hone_onnx_proto INTERFACE ${ONNX_PROTO_LIBRARY} protobuf::libprotobuf)

if(HONE_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_path(RAPIDCHECK_INCLUDE_DIR rapidcheck.h REQUIRED)
  find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
  add_library(hone_rapidcheck INTERFACE)
  target_include_directories(hone_rapidcheck SYSTEM INTERFACE ${RAPIDCHECK_INCLUDE_DIR})
  target_link_libraries(hone_rapidcheck INTERFACE ${RAPIDCHECK_LIBRARY})
endif()
if(HONE_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
