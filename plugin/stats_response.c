/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Service response times: how long messages take to complete, by operation.
 *
 * The one rule: a time is a sample of the tracker's (MESSAGE_COMPLETION), none is
 * measured here; Karn's rule and what else makes a message count are its affair.
 */
#include "stats.h"

#include <epan/srt_table.h>

/* The rows, in order. */
static const struct {
    roce_role role;
    const char *name;
} operations[] = {
    {ROCE_ROLE_WRITE, "WRITE"},       {ROCE_ROLE_SEND, "SEND"},
    {ROCE_ROLE_READ_REQUEST, "READ"}, {ROCE_ROLE_ATOMIC, "Atomic"},
    {ROCE_ROLE_FLUSH, "FLUSH"},       {ROCE_ROLE_ATOMIC_WRITE, "ATOMIC WRITE"},
};

static void
init(struct register_srt *srt, GArray *tables)
{
    (void)srt;
    srt_stat_table *table =
        init_srt_table("RoCEv2 Messages", "Messages", tables, G_N_ELEMENTS(operations),
                       "Operation", NULL, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(operations); i++) {
        init_srt_table_row(table, (int)i, operations[i].name);
    }
}

/* Wireshark wants to know when it began, and takes the time from there to a packet. */
static void
take_sample(srt_stat_table *table, const packet_record *record,
            const sample_record *sample)
{
    const packet_record *first = memory_find(sample->from);
    const message_record *message =
        first != NULL ? memory_message(first->message) : NULL;
    if (message == NULL) {
        return;
    }
    packet_info end = {.num = record->frame, .abs_ts = info_time(record->time_ns)};
    nstime_t duration = info_time(sample->duration_ns);
    nstime_t start;
    nstime_delta(&start, &end.abs_ts, &duration);
    for (unsigned i = 0; i < G_N_ELEMENTS(operations); i++) {
        if (operations[i].role == (roce_role)message->role) {
            add_srt_table_data(table, (int)i, &start, &end);
        }
    }
}

static void
take_packet(void *data, const taken_packet *packet)
{
    const srt_data_t *srt = data;
    srt_stat_table *table = g_array_index(srt->srt_array, srt_stat_table *, 0);
    const packet_record *record = memory_at(packet->frame);
    if (record == NULL) {
        return;
    }
    for (const note *n = memory_note(record->first_note); n != NULL;
         n = memory_note(n->next)) {
        const sample_record *sample =
            n->role == NOTE_SAMPLE ? memory_sample(n->index) : NULL;
        if (sample != NULL && sample->latency == ROCE_LATENCY_MESSAGE_COMPLETION) {
            take_sample(table, record, sample);
        }
    }
}

static tap_packet_status
take(void *tap_data, packet_info *pinfo, epan_dissect_t *edt, const void *data,
     tap_flags_t flags)
{
    (void)edt, (void)flags;
    ending_take(take_packet, tap_data, pinfo, data);
    return TAP_PACKET_REDRAW;
}

void
response_register(int proto)
{
    register_srt_table(proto, NULL, 1, take, init, NULL);
}
