# Headers that most files include are parsed once for all rooms and once for all test programs: of a
# build's time more than half was theirs. Not with sanitizers or a fuzzer, so that those builds show
# where a file does not include what it uses; nor with Clang, whose precompiled headers want the very
# flags of each target.
option(HONE_PRECOMPILE_HEADERS "Precompile the headers that most files include" ON)
if(HONE_SANITIZER OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(HONE_PRECOMPILE_HEADERS OFF)
endif()
if(HONE_PRECOMPILE_HEADERS AND CCACHE_PROGRAM)
  # What the manual of ccache asks for where there are precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

set(HONE_ROOM_HEADERS
    <algorithm> <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <optional> <set>
    <string> <string_view> <utility> <vector>
    [["absl/status/statusor.h"]] [["fmt/format.h"]] [["fmt/ranges.h"]])
set(HONE_TEST_HEADERS ${HONE_ROOM_HEADERS} [["gmock/gmock.h"]] [["gtest/gtest.h"]])

# hone_precompile(TARGET OWNER header...): the first target that names OWNER compiles the headers, the
# others of the same OWNER use what it made. They are of one kind, libraries or programs: code for the
# two differs in its position independence.
function(hone_precompile TARGET OWNER)
  if(NOT HONE_PRECOMPILE_HEADERS)
    return()
  endif()
  get_property(first GLOBAL PROPERTY HONE_PRECOMPILED_${OWNER})
  if(first)
    target_precompile_headers(${TARGET} REUSE_FROM ${first})
  else()
    target_precompile_headers(${TARGET} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY HONE_PRECOMPILED_${OWNER} ${TARGET})
  endif()
endfunction()
