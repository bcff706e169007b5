/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcapng_interface.h"

#include "pcapng.h"
#include "pcapng_option.h"

#define NS_PER_S 1000000000u

__extension__ typedef __int128 wide;

/* ---- Its block ---- */

static void
set_label(char **label, const rs_pcapng_option *option)
{
    g_free(*label);
    *label = rs_pcapng_option_text(option);
}

/* 0 if it does not fit into 64 bits. */
static guint64
ticks_per_second(guint8 resolution)
{
    guint exponent = resolution & 0x7f;
    if (resolution & 0x80) {
        return exponent < 64 ? (guint64)1 << exponent : 0;
    }
    guint64 ticks = exponent < 20 ? 1 : 0;
    for (guint i = 0; ticks && i < exponent; i++) {
        ticks *= 10;
    }
    return ticks;
}

/* The draft counts bits, Wireshark bytes, and both occur: 4 and 32 are the same. */
static guint
fcs_bytes(guint8 declared)
{
    return declared >= 8 ? declared / 8 : declared;
}

/* Options whose value has not the length it must have are no options. */
static void
read_option(rs_interface *interface, rs_pcapng_option *option)
{
    gsize length = option->value.n_left;
    if (option->code == RS_PCAPNG_IF_NAME) {
        set_label(&interface->name, option);
    } else if (option->code == RS_PCAPNG_IF_DESCRIPTION) {
        set_label(&interface->description, option);
    } else if (option->code == RS_PCAPNG_IF_SPEED && length == 8) {
        guint64 speed = rs_cursor_u64(&option->value);
        interface->speed_bps = speed == G_MAXUINT64 ? 0 : speed;
    } else if (option->code == RS_PCAPNG_IF_TSRESOL && length == 1) {
        interface->ticks_per_second = ticks_per_second(*option->value.at);
    } else if (option->code == RS_PCAPNG_IF_FCSLEN && length == 1) {
        interface->fcs_bytes = fcs_bytes(*option->value.at);
    } else if (option->code == RS_PCAPNG_IF_TSOFFSET && length == 8) {
        interface->ts_offset_s = (gint64)rs_cursor_u64(&option->value);
    }
}

/* Where ticks are a whole number of ns, without an offset, and as long as they are not
 * too many, time is their product. */
static void
set_plain_ticks(rs_pcapng_interface *interface)
{
    guint64 rate = interface->base.ticks_per_second;
    if (interface->base.ts_offset_s == 0 && NS_PER_S % rate == 0) {
        interface->ns_per_tick = NS_PER_S / rate;
        interface->end_of_plain_ticks = G_MAXINT64 / interface->ns_per_tick + 1;
    }
}

const char *
rs_pcapng_interface_describe(rs_pcapng_interface *interface, rs_cursor *body)
{
    rs_interface *base = &interface->base;
    guint16 link_type = rs_cursor_u16(body);
    base->link_type = link_type;
    base->link = rs_link_from_type(link_type);
    rs_cursor_u16(body);
    base->snaplen = rs_cursor_u32(body);
    base->ticks_per_second = 1000000;
    for (rs_pcapng_option option; rs_pcapng_next_option(body, &option);) {
        read_option(base, &option);
    }
    if (body->bad) {
        return "an interface description that overruns its block";
    }
    if (base->ticks_per_second == 0) {
        return "a time stamp resolution beyond 64 bits";
    }
    set_plain_ticks(interface);
    return NULL;
}

/* ---- Drops ---- */

const char *
rs_pcapng_interface_count(rs_pcapng_interface *interface, rs_cursor *options)
{
    guint64 dropped = 0;
    gboolean known = FALSE;
    for (rs_pcapng_option option; rs_pcapng_next_option(options, &option);) {
        gboolean counts_drops = option.code == RS_PCAPNG_STATISTICS_IFDROP ||
                                option.code == RS_PCAPNG_STATISTICS_OSDROP;
        if (!counts_drops || option.value.n_left != 8) {
            continue;
        }
        guint64 count = rs_cursor_u64(&option.value);
        if (count != G_MAXUINT64 && dropped <= G_MAXUINT64 - count) {
            dropped += count;
            known = TRUE;
        }
    }
    if (options->bad) {
        return "statistics that overrun their block";
    }
    interface->base.dropped = MAX(interface->base.dropped, dropped);
    interface->base.dropped_known |= known;
    return NULL;
}

void
rs_pcapng_interface_drop(rs_pcapng_interface *interface, guint64 n_packets)
{
    if (interface->dropped_between > G_MAXUINT64 - n_packets) {
        return;
    }
    interface->dropped_between += n_packets;
    interface->base.dropped = MAX(interface->base.dropped, interface->dropped_between);
    interface->base.dropped_known = TRUE;
}

/* ---- Its clock ---- */

guint64
rs_pcapng_interface_time_ns(const rs_pcapng_interface *interface, guint64 ticks)
{
    if (ticks < interface->end_of_plain_ticks) {
        return ticks * interface->ns_per_tick;
    }
    guint64 rate = interface->base.ticks_per_second;
    guint64 rest = ticks % rate;
    guint64 rest_ns = rest <= G_MAXUINT64 / NS_PER_S
                          ? rest * NS_PER_S / rate
                          : (guint64)((wide)rest * NS_PER_S / (wide)rate);
    wide seconds = (wide)(ticks / rate) + interface->base.ts_offset_s;
    wide ns = seconds * NS_PER_S + rest_ns;
    return ns < 0 ? 0 : ns > G_MAXINT64 ? G_MAXINT64 : (guint64)ns;
}

guint64
rs_pcapng_interface_ticks(const rs_pcapng_interface *interface, guint64 time_ns)
{
    const rs_interface *base = &interface->base;
    wide since = (wide)time_ns - (wide)base->ts_offset_s * NS_PER_S;
    wide ticks = (since * base->ticks_per_second + NS_PER_S - 1) / NS_PER_S;
    return since < 0 ? 0 : ticks > G_MAXUINT64 ? G_MAXUINT64 : (guint64)ticks;
}
