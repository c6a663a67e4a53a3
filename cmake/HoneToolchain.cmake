# Compiler flags, ccache and mold where present, sanitizers.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# A cross compiler looks for a linker of its own target's name.
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

# Every shared library is the system's, where its loader finds it; a program is installed as it was built.
set(CMAKE_SKIP_RPATH ON)

# For every target, as some dependencies ask for it: precompiled headers want the same everywhere.
add_compile_options(-pthread)
add_compile_options(-Wall -Wextra -Wno-unused-parameter -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these inside libstdc++ and Abseil at -O2; they are its own false alarms.
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1")
include_directories(${CMAKE_SOURCE_DIR})

if(HONE_SANITIZER)
  add_compile_options(-fsanitize=${HONE_SANITIZER} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HONE_SANITIZER})
endif()
if(HONE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
