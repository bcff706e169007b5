# SPDX-License-Identifier: GPL-2.0-or-later
#
# The compiler's flags, as interface targets to link:
#   rocescope_warnings   what all of our code is compiled with
#   rocescope_hardened   for code that users run, and that a stock Wireshark can load
#   rocescope_build      what the preset asks for: hardened, sanitized, fuzzed, covered
#   rocescope_whole      for libraries whose users may be optimised as one with them
include(CheckCCompilerFlag)
include(CheckPIESupported)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
check_pie_supported(LANGUAGES C)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# Asserts state invariants and stay on in every build.
foreach(config RELEASE RELWITHDEBINFO MINSIZEREL)
    string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_${config} "${CMAKE_C_FLAGS_${config}}")
endforeach()

add_library(rocescope_warnings INTERFACE)
target_compile_options(rocescope_warnings INTERFACE
    -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Wswitch-enum -Wcast-qual
    $<$<BOOL:${ROCESCOPE_WERROR}>:-Werror>)

# Plain copies in a debug build are optimised too: _FORTIFY_SOURCE does nothing without.
add_library(rocescope_hardened INTERFACE)
target_compile_options(rocescope_hardened INTERFACE $<$<CONFIG:Debug>:-O2>
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong)
set(CMAKE_REQUIRED_FLAGS -Werror) # clang only warns of what it does not know
foreach(flag -fstack-clash-protection -fcf-protection -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "ROCESCOPE_HAS${flag}" has_flag)
    check_c_compiler_flag(${flag} ${has_flag})
    if(${has_flag})
        target_compile_options(rocescope_hardened INTERFACE ${flag})
    endif()
endforeach()
unset(CMAKE_REQUIRED_FLAGS)
# The same bytes wherever it is built: paths in asserts and in what debuggers read are those
# below the source directory.
set(nowhere "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${PROJECT_BINARY_DIR}" is_within)
if(NOT is_within)
    list(APPEND nowhere "-ffile-prefix-map=${PROJECT_BINARY_DIR}=./build")
endif()
target_compile_options(rocescope_hardened INTERFACE ${nowhere})
target_link_options(rocescope_hardened INTERFACE ${nowhere})
target_link_options(rocescope_hardened INTERFACE
    LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)

add_library(rocescope_build INTERFACE)
set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
if(ROCESCOPE_INSTRUMENT STREQUAL "none")
    target_link_libraries(rocescope_build INTERFACE rocescope_hardened)
elseif(ROCESCOPE_INSTRUMENT STREQUAL "sanitize")
    # gcc warns falsely of uninitialised variables in code that UBSan has touched.
    target_compile_options(rocescope_build INTERFACE -O1 ${sanitizers}
        $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(rocescope_build INTERFACE ${sanitizers})
elseif(ROCESCOPE_INSTRUMENT STREQUAL "threads")
    target_compile_options(rocescope_build INTERFACE -O1 -fsanitize=thread)
    target_link_options(rocescope_build INTERFACE -fsanitize=thread)
elseif(ROCESCOPE_INSTRUMENT STREQUAL "fuzz")
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "ROCESCOPE_INSTRUMENT=fuzz needs clang (libFuzzer)")
    endif()
    target_compile_options(rocescope_build INTERFACE -O1 ${sanitizers}
        -fsanitize=fuzzer-no-link)
    target_link_options(rocescope_build INTERFACE ${sanitizers})
elseif(ROCESCOPE_INSTRUMENT STREQUAL "coverage")
    target_compile_options(rocescope_build INTERFACE --coverage -O0)
    target_link_options(rocescope_build INTERFACE --coverage)
else()
    message(FATAL_ERROR "ROCESCOPE_INSTRUMENT: none, sanitize, threads, fuzz or coverage, "
                        "not '${ROCESCOPE_INSTRUMENT}'")
endif()

# Whoever looks on wants to see how memory is given back as well.
if(NOT ROCESCOPE_INSTRUMENT STREQUAL "none")
    target_compile_definitions(rocescope_build INTERFACE ROCESCOPE_INSTRUMENTED)
endif()

# Sanitizers have the memory in place of the C library, and note each byte of it.
if(ROCESCOPE_INSTRUMENT MATCHES "^(sanitize|threads|fuzz)$")
    target_compile_definitions(rocescope_build INTERFACE ROCESCOPE_SANITIZED)
endif()

# A packet goes through many files.  Objects have both forms, so that what is linked often,
# the tests, takes the plain one (-fno-lto).  By -O3, which is not the default of all builds,
# captures are read in a tenth less time.
add_library(rocescope_whole INTERFACE)
set(whole FALSE)
if(ROCESCOPE_INSTRUMENT STREQUAL "none")
    set(fast $<$<CONFIG:Release,RelWithDebInfo>:-O3>)
    target_compile_options(rocescope_whole INTERFACE ${fast})
    target_link_options(rocescope_whole INTERFACE ${fast})
endif()
if(ROCESCOPE_INSTRUMENT STREQUAL "none" AND CMAKE_C_COMPILER_ID STREQUAL "GNU"
   AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(whole TRUE)
    target_compile_options(rocescope_whole INTERFACE -flto=auto -ffat-lto-objects)
endif()

# The same in words, for --version.
string(TOLOWER "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}" compiler)
string(REPLACE "gnu" "gcc" compiler "${compiler}")
set(build_kind "${CMAKE_BUILD_TYPE}")
if(whole)
    string(APPEND build_kind ", optimised as one (LTO)")
endif()
if(ROCESCOPE_INSTRUMENT STREQUAL "none")
    string(APPEND build_kind ", hardened, asserts on")
else()
    string(APPEND build_kind ", asserts on, for tests (${ROCESCOPE_INSTRUMENT})")
endif()
