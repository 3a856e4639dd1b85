# What `cmake --install` and cpack put where. Every path is relative to another, so that the whole may be moved; the data
# lies as in the source tree (sim/support/data_directory.hpp).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(data ${CMAKE_INSTALL_DATADIR}/mantissa)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/mantissa)
set(made ${CMAKE_BINARY_DIR}/installed)

install(TARGETS mantissa)

# The models as mantissa::models, the C interface as mantissa::capi. Headers are found from include/mantissa by the paths
# that they have in the source tree; of the kernels only those that other rooms call.
target_compile_features(mantissa_models INTERFACE cxx_std_20)
target_compile_options(mantissa_models INTERFACE $<INSTALL_INTERFACE:-ffp-contract=off>)
set_target_properties(mantissa_models PROPERTIES EXPORT_NAME models)
set_target_properties(mantissa_capi PROPERTIES EXPORT_NAME capi)
install(TARGETS mantissa_models EXPORT mantissa INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mantissa)
install(TARGETS mantissa_capi EXPORT mantissa INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mantissa
  FILES_MATCHING PATTERN *.hpp PATTERN capi EXCLUDE PATTERN figures EXCLUDE PATTERN kernels EXCLUDE)
foreach(kernel conv decode_table drain draw_stream gemm gemm_float gemmlowp int_conv mac_row norm prune quantize targets
    weight_update)
  install(FILES models/kernels/${kernel}.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mantissa/models/kernels)
endforeach()
install(FILES models/capi/mantissa.h TYPE INCLUDE)

install(EXPORT mantissa NAMESPACE mantissa:: FILE mantissa-targets.cmake DESTINATION ${package})
configure_package_config_file(cmake/mantissa-config.cmake.in ${made}/mantissa-config.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${made}/mantissa-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${made}/mantissa-config.cmake ${made}/mantissa-config-version.cmake DESTINATION ${package})

file(RELATIVE_PATH include_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/mantissa.pc.in ${made}/mantissa.pc @ONLY)
install(FILES ${made}/mantissa.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The RTL, with a list for simulators and one for FuseSoC. Packages come before what imports them.
file(GLOB rtl_modules RELATIVE ${CMAKE_SOURCE_DIR}/rtl CONFIGURE_DEPENDS rtl/*.sv)
list(REMOVE_ITEM rtl_modules mantissa_pkg.sv)
list(PREPEND rtl_modules mantissa_pkg.sv)
list(JOIN rtl_modules "\n" rtl_list)
list(JOIN rtl_modules "\n      - " rtl_items)
configure_file(cmake/mantissa.f.in ${made}/mantissa.f @ONLY)
configure_file(cmake/mantissa.core.in ${made}/mantissa.core @ONLY)
install(DIRECTORY rtl DESTINATION ${data} FILES_MATCHING PATTERN *.sv PATTERN *.vlt PATTERN *.md)
install(FILES ${made}/mantissa.f ${made}/mantissa.core DESTINATION ${data}/rtl)
install(FILES testbench/dpi/mantissa_dpi.sv DESTINATION ${data}/dpi)

# What else the program reads, and what its user may want at hand.
install(DIRECTORY sim/configs DESTINATION ${data}/sim)
install(FILES sim/dut/dut_api.h DESTINATION ${data}/sim/dut)
install(PROGRAMS tools/plot tools/capture_torch.py DESTINATION ${data}/tools)
install(FILES tools/capture_example.py tools/capture_macs.py DESTINATION ${data}/tools)
install(DIRECTORY tools/plotting DESTINATION ${data}/tools PATTERN __pycache__ EXCLUDE)
install(DIRECTORY traces DESTINATION ${data} FILES_MATCHING PATTERN *.safetensors PATTERN *.md PATTERN figures EXCLUDE)
install(FILES README.md INSTALL.md CHANGELOG.md LICENSE models/ARITHMETIC.md models/SILICON.md docs/GLOSSARY.md docs/RESULTS.md TYPE DOC)

# One Debian package. What a command of the program calls is recommended: all others do without.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Mantissa authors")
set(CPACK_PACKAGE_NAME mantissa)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "dataset-fashion-mnist, g++, python3-matplotlib, verilator, zlib1g-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libhwy-dev, libopenblas0, openmpi-bin, pkg-config")
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
else()
  message(STATUS "no dpkg-shlibdeps (package dpkg-dev): a Debian package would name no libraries")
endif()
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)
