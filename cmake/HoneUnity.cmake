# Eight files of a room are compiled as one: most of a file's time goes into the headers and templates that its
# neighbours want as well. So names in anonymous namespaces are one room's, not one file's. Not for fuzzers nor with
# Clang: there, and under scripts/tidy, it shows where a file does not include what it uses or leans on another's names.
option(HONE_UNITY "Compile files of a room together" ON)
if(HONE_FUZZ OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(HONE_UNITY OFF)
endif()

# hone_unity(TARGET [FILES]): what TARGET is made of is compiled together, FILES at once.
function(hone_unity TARGET)
  set(batch 8)
  if(ARGC GREATER 1)
    set(batch ${ARGV1})
  endif()
  if(HONE_UNITY)
    set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endfunction()
