/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of a NIC, as the tools that print them write them (--counters-before,
 * --counters-after):
 *
 *   rdma statistic show          link mlx5_0/1 packet_seq_err 12 out_of_sequence 0 …
 *   rdma -j statistic show       [{"ifname":"mlx5_0","port":1,"packet_seq_err":12}]
 *   ethtool -S                   NIC statistics:
 *                                     rx_prio3_pause: 12
 *   grep . /sys/…/hw_counters/…  /sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err:12
 *   sysfs names as JSON          {"mlx5_0": {"1": {"packet_seq_err": 12}}}, however deep
 *
 * The one rule: a file is taken whole or not at all.  Counters of one name on several
 * devices or ports are added up: they are one host's.
 */
#ifndef RS_COUNTERS_H
#define RS_COUNTERS_H

#include <glib.h>

/* What one file says. */
typedef struct rs_counter_set rs_counter_set;

/* NULL with `error` set, which says what is wrong with the file and on which line. */
rs_counter_set *
rs_counter_set_read(const char *path, GError **error);

/* The same from memory; `path` is for errors. */
rs_counter_set *
rs_counter_set_parse(const char *text, gsize size, const char *path, GError **error);

void
rs_counter_set_free(rs_counter_set *set);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_counter_set, rs_counter_set_free)

/* A counter, summed over devices and ports; FALSE: the file has none of this name. */
gboolean
rs_counter_set_get(const rs_counter_set *set, const char *name, guint64 *value);

/* How many names the file has. */
guint
rs_counter_set_n(const rs_counter_set *set);

/* Devices and ports that the file tells apart, "mlx5_0/1", in its order; "" stands for
 * counters of which it does not say. */
guint
rs_counter_set_n_devices(const rs_counter_set *set);
const char *
rs_counter_set_device(const rs_counter_set *set, guint i);

/* What became of a counter between two files. */
typedef enum rs_counter_state {
    RS_COUNTER_COUNTED, /* its increase is known */
    RS_COUNTER_WRAPPED, /* likewise: it has 32 bits and passed the end of them once */
    RS_COUNTER_RESET,   /* it is lower than before: set to zero in between */
    RS_COUNTER_MISSING, /* in one of the files alone, or of other devices, or in none */
} rs_counter_state;

/* Sets *increase for the first two. */
rs_counter_state
rs_counter_increase(const rs_counter_set *before, const rs_counter_set *after,
                    const char *name, guint64 *increase);

/* "counted", "wrapped", "reset", "missing". */
const char *
rs_counter_state_name(rs_counter_state state);

#endif
