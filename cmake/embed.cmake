# SPDX-License-Identifier: GPL-2.0-or-later
#
# Writes a C file with the contents of files as strings, at build time:
#   cmake -DOUT=assets.c -DHEADER=html_assets.h -P embed.cmake -- NAME=FILE[+FILE...] ...
# NAME becomes "const char NAME[]", the files one after the other.  References to source
# maps are left out: a browser would go and look for them.
set(names_begin FALSE)
set(text "/* Made by cmake/embed.cmake. */\n#include \"${HEADER}\"\n")
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
    set(argument "${CMAKE_ARGV${i}}")
    if(argument STREQUAL "--")
        set(names_begin TRUE)
        continue()
    elseif(NOT names_begin)
        continue()
    endif()
    string(REGEX MATCH "^([a-z_]+)=(.*)$" matched "${argument}")
    set(name "${CMAKE_MATCH_1}")
    string(REPLACE "+" ";" files "${CMAKE_MATCH_2}")
    set(bytes "")
    foreach(file IN LISTS files)
        file(READ "${file}" hex HEX)
        # "//# sourceMappingURL=…" and "/*# sourceMappingURL=… */", to the end of the line
        string(REGEX REPLACE "(2f2f|2f2a)2320736f757263654d617070696e6755524c3d([1-9a-f].|0[^a])*"
            "" hex "${hex}")
        string(APPEND bytes "${hex}0a")
    endforeach()
    string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
    # lines of 16 bytes, each a string of its own, which C puts together
    string(REPEAT "...." 16 line)
    string(REGEX REPLACE "(${line})" "\\1\"\n\"" bytes "${bytes}")
    string(APPEND text "const char ${name}[] =\n\"${bytes}\";\n")
endforeach()
file(WRITE "${OUT}" "${text}")
