# What is installed where, and the Debian packages of it: `cpack --config build/release/CPackConfig.cmake -B OUT`.
# A package a kind of machine: `hone` for who submits and compiles, `hone-daemon`, `hone-worker`,
# `libhone-runtime` where compiled models run, `python3-hone`.
set(packaging ${CMAKE_SOURCE_DIR}/packaging)
set(library_folder lib/${CMAKE_LIBRARY_ARCHITECTURE})

install(TARGETS hone RUNTIME DESTINATION bin COMPONENT hone)
install(TARGETS honed hone-builder RUNTIME DESTINATION bin COMPONENT hone-daemon)
install(TARGETS hone-measure RUNTIME DESTINATION bin COMPONENT hone-worker)
install(FILES ${packaging}/systemd/honed.service DESTINATION lib/systemd/system COMPONENT hone-daemon)
install(FILES ${packaging}/systemd/hone-measure.service DESTINATION lib/systemd/system COMPONENT hone-worker)

# The C API; headers include one another as in this tree.
install(TARGETS hone_runtime LIBRARY DESTINATION ${library_folder} COMPONENT libhone-runtime)
install(FILES ${CMAKE_SOURCE_DIR}/runtime/c_api.h ${CMAKE_SOURCE_DIR}/runtime/dlpack.h
        DESTINATION include/hone/runtime COMPONENT libhone-runtime)

# The Python package loads its libraries from its own folder; the runtime there is a link to the installed one.
set(python_packages lib/python3/dist-packages)
install(DIRECTORY ${CMAKE_BINARY_DIR}/python/hone DESTINATION ${python_packages} COMPONENT python3-hone
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "*.pyi" PATTERN bin EXCLUDE PATTERN __pycache__ EXCLUDE)
install(TARGETS hone_compiler LIBRARY DESTINATION ${python_packages}/hone COMPONENT python3-hone)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/packaging)
file(CREATE_LINK ../../../${CMAKE_LIBRARY_ARCHITECTURE}/libhone_runtime.so ${CMAKE_BINARY_DIR}/packaging/libhone_runtime.so
     SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/packaging/libhone_runtime.so DESTINATION ${python_packages}/hone COMPONENT python3-hone)

foreach(package hone hone-daemon hone-worker libhone-runtime python3-hone)
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/${package} RENAME copyright COMPONENT ${package})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR Hone)
set(CPACK_PACKAGE_CONTACT "The authors of Hone <hone@localhost>")
set(CPACK_PACKAGE_DESCRIPTION "Hone finds out by measuring which code of a deep-learning kernel is fastest on a machine.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL hone hone-daemon hone-worker libhone-runtime python3-hone)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)

# hone_package(NAME SUMMARY [DEPENDS packages] [RECOMMENDS packages] [SCRIPTS files])
macro(hone_package NAME SUMMARY)
  cmake_parse_arguments(package "" "DEPENDS;RECOMMENDS" "SCRIPTS" ${ARGN})
  string(TOUPPER ${NAME} upper)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${SUMMARY}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${NAME})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${package_DEPENDS}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${package_RECOMMENDS}")
  list(TRANSFORM package_SCRIPTS PREPEND ${packaging}/debian/${NAME}/)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${package_SCRIPTS})
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endmacro()
hone_package(hone "command line and compiler of Hone" RECOMMENDS "hone-daemon, hone-worker, libhone-runtime")
hone_package(hone-daemon "tuning daemon of Hone" DEPENDS adduser SCRIPTS postinst prerm postrm)
hone_package(hone-worker "measurement worker of Hone" DEPENDS adduser SCRIPTS postinst prerm postrm)
hone_package(libhone-runtime "runtime of models that Hone compiled")
hone_package(python3-hone "Python package of Hone" DEPENDS
             "python3, python3-numpy, libhone-runtime (= ${PROJECT_VERSION})" RECOMMENDS
             "hone, hone-daemon, hone-worker, python3-grpcio, python3-protobuf" SCRIPTS postinst prerm)
include(CPack)
