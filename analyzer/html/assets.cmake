# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes the C file with what HTML pages carry: Debian's dygraphs, its licence, and the
# scripts and styles that stand here.  Sets html_assets_c to its path.
set(ROCESCOPE_DYGRAPHS /usr/share/javascript/dygraphs CACHE PATH
    "Where dygraph.min.js is")
set(ROCESCOPE_DYGRAPHS_LICENCE /usr/share/doc/libjs-dygraphs/copyright CACHE FILEPATH
    "The licence of dygraphs")
set(html_assets_c "${CMAKE_CURRENT_BINARY_DIR}/html_assets.c")
set(html_assets)
set(html_asset_files)

# NAME is the C name of the files one after the other; own ones stand in html/.
function(add_asset name)
    list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/html/" REGEX "^[^/]")
    foreach(file IN LISTS ARGN)
        if(NOT EXISTS "${file}")
            message(FATAL_ERROR "${file} is missing: install Debian's libjs-dygraphs, "
                "or say where else it is by -DROCESCOPE_DYGRAPHS=DIRECTORY and "
                "-DROCESCOPE_DYGRAPHS_LICENCE=FILE")
        endif()
    endforeach()
    set(html_asset_files ${html_asset_files} ${ARGN} PARENT_SCOPE)
    list(JOIN ARGN "+" joined)
    set(html_assets ${html_assets} "${name}=${joined}" PARENT_SCOPE)
endfunction()

# Scripts are read in this order.
add_asset(rs_html_style "${ROCESCOPE_DYGRAPHS}/dygraph.min.css" page.css tables.css
    report.css media.css)
add_asset(rs_html_page_script page.js tables.js)
add_asset(rs_html_report_script units.js axis.js timeline.js psn.js hosts.js)
add_asset(rs_html_matrix_script units.js hosts.js)
add_asset(rs_html_dygraphs "${ROCESCOPE_DYGRAPHS}/dygraph.min.js"
    "${ROCESCOPE_DYGRAPHS}/extras/synchronizer.js")
add_asset(rs_html_dygraphs_licence "${ROCESCOPE_DYGRAPHS_LICENCE}")

# It says its version in its first line, as a link to its licence.
file(STRINGS "${ROCESCOPE_DYGRAPHS}/dygraph.min.js" dygraphs_version LIMIT_COUNT 1)
if(NOT dygraphs_version MATCHES "dygraphs/blob/v([0-9.]+)/")
    message(FATAL_ERROR "dygraph.min.js does not say which version it is")
endif()
set(dygraphs_version "${CMAKE_MATCH_1}")

add_custom_command(OUTPUT "${html_assets_c}"
    COMMAND "${CMAKE_COMMAND}" "-DOUT=${html_assets_c}" -DHEADER=html_assets.h
        -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake" -- ${html_assets}
    DEPENDS "${PROJECT_SOURCE_DIR}/cmake/embed.cmake" ${html_asset_files}
    COMMENT "Embedding what HTML pages carry" VERBATIM)
