/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is kept of each packet: arrays that only grow, and indices into them.
 *
 * The one rule: a pointer into an array is good until something is added to it.
 *
 * Memory: 12 bytes for each frame of the capture, 72 for each RoCE packet, 12 for each
 * note, 88 for an event, 16 for a latency, 56 and 16 for a message.  A data packet and
 * its ACK with one latency each are some 200 bytes together; what the tracker keeps of
 * each stream comes on top.
 */
#include "analysis.h"

/* What an array is made of. */
typedef struct table {
    GArray *rows;
    guint size;
} table;

static table frames = {.size = sizeof(uint32_t)};  /* by serial: record + 1, 0 none */
static table shown = {.size = sizeof(uint32_t)};   /* by number: serial, 0 none */
static table numbers = {.size = sizeof(uint32_t)}; /* by serial: number */
static table records = {.size = sizeof(packet_record)};
static table notes = {.size = sizeof(note)};
static table events = {.size = sizeof(event_record)};
static table samples = {.size = sizeof(sample_record)};
static table messages = {.size = sizeof(message_record)};
static table streams = {.size = sizeof(stream_record)};
static table *const packet_tables[] = {&frames,  &records,  &notes,  &events,
                                       &samples, &messages, &streams};

_Static_assert(sizeof(packet_record) == 72 && sizeof(note) == 12 &&
                   sizeof(event_record) == 88 && sizeof(sample_record) == 16 &&
                   sizeof(message_record) == 56,
               "as stated above");

static GArray *
rows_of(table *t)
{
    if (t->rows == NULL) {
        t->rows = g_array_new(FALSE, TRUE, t->size);
    }
    return t->rows;
}

static uint32_t
add_row(table *t, const void *row)
{
    GArray *rows = rows_of(t);
    g_array_append_vals(rows, row, 1);
    return rows->len - 1;
}

static void *
row_at(const table *t, uint32_t index)
{
    return t->rows == NULL || index >= t->rows->len
               ? NULL
               : t->rows->data + (size_t)index * t->size;
}

static void
clear_table(table *t)
{
    if (t->rows != NULL) {
        g_array_free(t->rows, TRUE);
        t->rows = NULL;
    }
}

void
memory_clear_packets(void)
{
    for (uint32_t i = 0; streams.rows != NULL && i < streams.rows->len; i++) {
        const stream_record *s = row_at(&streams, i);
        if (s->messages != NULL) {
            g_array_free(s->messages, TRUE);
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(packet_tables); i++) {
        clear_table(packet_tables[i]);
    }
}

void
memory_clear(void)
{
    memory_clear_packets();
    clear_table(&shown);
    clear_table(&numbers);
}

void
memory_show(uint32_t number, uint32_t serial)
{
    if (rows_of(&shown)->len <= number) {
        g_array_set_size(shown.rows, number + 1);
    }
    uint32_t *place = &g_array_index(shown.rows, uint32_t, number);
    packet_record *before = memory_find(*place);
    packet_record *now = memory_find(serial);
    if (before != NULL) {
        before->number = 0;
    }
    *place = serial;
    if (now != NULL) {
        now->number = number;
    }
    if (rows_of(&numbers)->len <= serial) {
        g_array_set_size(numbers.rows, serial + 1);
    }
    g_array_index(numbers.rows, uint32_t, serial) = number;
}

/* What a frame is called, unless it is another that is called so. */
static uint32_t
number_of(uint32_t serial)
{
    const uint32_t *number = row_at(&numbers, serial);
    const uint32_t *called = number != NULL ? row_at(&shown, *number) : NULL;
    return called != NULL && *called == serial ? *number : 0;
}

const packet_record *
memory_at(uint32_t number)
{
    const uint32_t *serial = row_at(&shown, number);
    return serial == NULL ? NULL : memory_find(*serial);
}

uint32_t
memory_number(uint64_t frame)
{
    const packet_record *record = memory_find(frame);
    return record != NULL ? record->number : 0;
}

packet_record *
memory_find(uint64_t frame)
{
    const uint32_t *index =
        frame > UINT32_MAX ? NULL : row_at(&frames, (uint32_t)frame);
    return index == NULL || *index == 0 ? NULL : row_at(&records, *index - 1);
}

packet_record *
memory_make(uint32_t frame)
{
    packet_record *found = memory_find(frame);
    if (found != NULL) {
        return found;
    }
    const packet_record fresh = {
        .frame = frame,
        .number = number_of(frame),
        .stream = ROCE_NO_STREAM,
        .first_note = ANALYSIS_NONE,
        .last_note = ANALYSIS_NONE,
        .message = ANALYSIS_NONE,
    };
    uint32_t index = add_row(&records, &fresh);
    if (rows_of(&frames)->len <= frame) {
        g_array_set_size(frames.rows, frame + 1);
    }
    g_array_index(frames.rows, uint32_t, frame) = index + 1;
    return row_at(&records, index);
}

const note *
memory_note(uint32_t index)
{
    return row_at(&notes, index);
}

event_record *
memory_event(uint32_t index)
{
    return row_at(&events, index);
}

const sample_record *
memory_sample(uint32_t index)
{
    return row_at(&samples, index);
}

message_record *
memory_message(uint32_t index)
{
    return row_at(&messages, index);
}

uint32_t
memory_add_event(const event_record *event)
{
    return add_row(&events, event);
}

uint32_t
memory_add_message(const message_record *message)
{
    return add_row(&messages, message);
}

void
memory_add_sample(packet_record *record, const sample_record *sample)
{
    memory_add_note(record, NOTE_SAMPLE, add_row(&samples, sample));
}

void
memory_add_note(packet_record *record, note_role role, uint32_t index)
{
    const note fresh = {.next = ANALYSIS_NONE, .index = index, .role = (uint8_t)role};
    uint32_t at = add_row(&notes, &fresh);
    bool is_first = record->first_note == ANALYSIS_NONE;
    note *last = is_first ? NULL : row_at(&notes, record->last_note);
    if (last == NULL) {
        record->first_note = at;
    } else {
        last->next = at;
    }
    record->last_note = at;
}

stream_record *
memory_stream(uint32_t id)
{
    while (rows_of(&streams)->len <= id) {
        const stream_record fresh = {
            .last_loss = ANALYSIS_NONE,
            .connection = ANALYSIS_NONE,
        };
        add_row(&streams, &fresh);
    }
    return row_at(&streams, id);
}
