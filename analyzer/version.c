/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "version.h"

#include "background.h"
#include "help.h"
#include "rocescope_build.h"
#include "rocescope_version.h"
#include "table.h"
#include "version_libraries.h"

#include <glib.h>
#include <jansson.h>
#include <lz4.h>
#include <lzma.h>
#include <pcap/pcap.h>
#include <seccomp.h>
#include <sqlite3.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#define WIDTH 80 /* as that of help */

static const rs_column columns[] = {
    {"library", FALSE, 0, FALSE},
    {"built with", FALSE, 0, FALSE},
    {"runs with", FALSE, 0, FALSE},
    {"licence", FALSE, 0, FALSE},
};

/* `running` is taken over; NULL where the library does not tell. */
static void
add(rs_table *table, const char *name, const char *built, char *running,
    const char *licence)
{
    rs_table_add(table, g_strdup(name));
    rs_table_add(table, g_strdup(built));
    rs_table_add(table, running != NULL ? running : g_strdup("not told"));
    rs_table_add(table, g_strdup(licence));
}

/* Of "libpcap version 1.10.3 (with TPACKET_V3)" the number. */
static char *
pcap_running(void)
{
    const char *version = strstr(pcap_lib_version(), "version ");
    if (version == NULL) {
        return NULL;
    }
    version += strlen("version ");
    return g_strndup(version, strcspn(version, " "));
}

static char *
glib_running(void)
{
    return g_strdup_printf("%u.%u.%u", glib_major_version, glib_minor_version,
                           glib_micro_version);
}

static char *
xxhash_running(void)
{
    unsigned version = XXH_versionNumber(); /* 801 is 0.8.1 */
    return g_strdup_printf("%u.%u.%u", version / 10000, version / 100 % 100,
                           version % 100);
}

static char *
seccomp_running(void)
{
    const struct scmp_version *version = seccomp_version();
    return g_strdup_printf("%u.%u.%u", version->major, version->minor, version->micro);
}

static void
print_libraries(FILE *out)
{
    g_autoptr(rs_table) table = rs_table_new(columns, G_N_ELEMENTS(columns));
    add(table, "libpcap", RS_BUILT_WITH_PCAP, pcap_running(), "BSD-3-Clause");
    add(table, "GLib", RS_BUILT_WITH_GLIB, glib_running(), "LGPL-2.1-or-later");
    add(table, "jansson", RS_BUILT_WITH_JANSSON, g_strdup(jansson_version_str()),
        "MIT");
    add(table, "zlib", RS_BUILT_WITH_ZLIB, g_strdup(zlibVersion()), "Zlib");
    add(table, "libdeflate", RS_BUILT_WITH_DEFLATE, NULL, "MIT");
    add(table, "libzstd", RS_BUILT_WITH_ZSTD, g_strdup(ZSTD_versionString()),
        "BSD-3-Clause or GPL-2.0-only");
    add(table, "liblz4", RS_BUILT_WITH_LZ4, g_strdup(LZ4_versionString()),
        "BSD-2-Clause");
    add(table, "liblzma", RS_BUILT_WITH_LZMA, g_strdup(lzma_version_string()),
        "public domain; 0BSD from 5.6 on");
    add(table, "SQLite", RS_BUILT_WITH_SQLITE, g_strdup(sqlite3_libversion()),
        "public domain");
    add(table, "xxHash", RS_BUILT_WITH_XXHASH, xxhash_running(), "BSD-2-Clause");
    add(table, "libseccomp", RS_BUILT_WITH_SECCOMP, seccomp_running(), "LGPL-2.1-only");
    if (rs_background_ndpi_version() != NULL) {
        add(table, "nDPI", RS_BUILT_WITH_NDPI, g_strdup(rs_background_ndpi_version()),
            "LGPL-3.0-or-later");
    }
    rs_table_print(table, out, WIDTH);
}

static void
print_licence(FILE *out)
{
    if (rs_background_ndpi_version() != NULL) {
        rs_help_text(out,
                     "With nDPI (LGPL-3.0-or-later); this binary is conveyed under "
                     "GPL-3.0-or-later.");
    } else {
        rs_help_text(out,
                     "Without nDPI; this binary is conveyed under GPL-2.0-or-later.");
    }
    rs_help_text(out, "Source: GPL-2.0-or-later.  There is NO WARRANTY, to the extent "
                      "permitted by law.");
}

void
rs_version_print(FILE *out)
{
    (void)fprintf(out, "rocescope %s\n", ROCESCOPE_VERSION);
    print_licence(out);
    (void)fprintf(out, "\nBuilt by %s for %s: %s\n", ROCESCOPE_BUILD_COMPILER,
                  ROCESCOPE_BUILD_FOR, ROCESCOPE_BUILD_KIND);
    (void)fprintf(out, "Names other traffic (nDPI): %s\n",
                  rs_background_ndpi_version() != NULL ? "yes" : "no");
    (void)fprintf(out, "Confines itself (seccomp): %s\n\n",
                  RS_BUILT_CONFINED ? "yes, where the kernel can" : "no");
    print_libraries(out);
    (void)fprintf(out, "\nHTML reports carry dygraphs %s (MIT), and its licence.\n",
                  RS_BUILT_WITH_DYGRAPHS);
}
