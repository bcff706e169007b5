/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocescope.so: the symbols that Wireshark looks for in a plugin.
 *
 * The one rule: a binary fits one Wireshark X.Y, and says which.
 */
#include "plugin.h"
#include "rocescope_build.h"
#include "rocescope_version.h"

WS_DLL_PUBLIC const char plugin_version[];
WS_DLL_PUBLIC const int plugin_want_major;
WS_DLL_PUBLIC const int plugin_want_minor;
WS_DLL_PUBLIC void
plugin_register(void);

/* Of what the About dialog and `tshark -G plugins` show of a plugin, this alone is ours to
 * write. */
WS_DLL_PUBLIC_DEF const char plugin_version[] =
    ROCESCOPE_VERSION " (GPL-2.0-or-later; built with Wireshark " COMPAT_VERSION
                      " by " ROCESCOPE_BUILD_COMPILER ")";
WS_DLL_PUBLIC_DEF const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
WS_DLL_PUBLIC_DEF const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

#if COMPAT_HAS_DESCRIBE
WS_DLL_PUBLIC uint32_t
plugin_describe(void);

WS_DLL_PUBLIC_DEF uint32_t
plugin_describe(void)
{
    return COMPAT_DESCRIBE_DISSECTOR;
}
#endif

static void
register_protocols(void)
{
    rocev2_register();
    pfc_register();
}

static void
handoff(void)
{
    dissector_handle_t ours[HOOK_N_PLACES] = {NULL};
    rocev2_handoff(ours);
    pfc_handoff(ours);
    builtin_handoff();
    hook_take_places(ours);
}

WS_DLL_PUBLIC_DEF void
plugin_register(void)
{
    static proto_plugin plugin; /* Wireshark keeps the pointer */
    plugin.register_protoinfo = register_protocols;
    plugin.register_handoff = handoff;
    proto_register_plugin(&plugin);
}
