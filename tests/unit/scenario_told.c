/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a scenario's events tell: whether the wanted ones are there, and what must hold
 * for any capture: they agree with the counters, and no duration is negative.
 */
#include "scenario_judge.h"

#define ABSURD ((uint64_t)1 << 62) /* no duration gets there: it went below 0 */
#define MAX_STREAMS 4096

/* What is told of one stream by events, to be compared with its counters. */
typedef struct tally {
    uint64_t gaps[ROCE_N_SPACES], missing[ROCE_N_SPACES], late[ROCE_N_SPACES];
    uint64_t duplicates[ROCE_N_SPACES], restarts;
    uint64_t losses[ROCE_N_SPACES][ROCE_N_VERDICTS];
    uint64_t withdrawn[ROCE_N_SPACES][ROCE_N_VERDICTS];
    uint64_t rounds, spurious, by_cause[ROCE_N_CAUSES], again;
} tally;

static void
count_event(tally *n, const roce_event *e)
{
    /* The kinds that counters go with; the others have no say here. */
    const unsigned kind = e->kind;
    if (kind == ROCE_EVENT_GAP) {
        n->gaps[e->space]++;
        n->missing[e->space] += e->count;
    } else if (kind == ROCE_EVENT_LATE) {
        n->late[e->space]++;
    } else if (kind == ROCE_EVENT_DUPLICATE) {
        n->duplicates[e->space]++;
    } else if (kind == ROCE_EVENT_LOSS) {
        n->losses[e->space][e->detail] += e->count;
    } else if (kind == ROCE_EVENT_LOSS_WITHDRAWN) {
        n->withdrawn[e->space][e->detail] += e->count;
    } else if (kind == ROCE_EVENT_ROUND) {
        n->rounds++;
        n->by_cause[e->detail]++;
    } else if (kind == ROCE_EVENT_SPURIOUS_ROUND) {
        n->spurious++;
    } else if (kind == ROCE_EVENT_STREAM_RESTART) {
        n->restarts++;
    } else if (kind == ROCE_EVENT_RETRANSMISSION) {
        n->again++;
    }
}

/* A restart that names an earlier frame says that the gap or the round that was told there is
 * none, and that nothing was sent again in that round. */
static void
take_back(tally *n, const scenario_outcome *out, const roce_event *restart)
{
    bool is_round = false;
    for (const roce_event *e = out->events; e < restart; e++) {
        const unsigned kind = e->kind;
        if (e->stream != restart->stream) {
            continue;
        }
        bool is_there = e->frame == restart->related_frame;
        if (kind == ROCE_EVENT_GAP && is_there && e->space == ROCE_SPACE_REQUESTS) {
            n->gaps[e->space]--;
            n->missing[e->space] -= e->count;
        } else if (kind == ROCE_EVENT_ROUND && is_there) {
            n->rounds--;
            n->by_cause[e->detail]--;
            is_round = true;
        } else if (kind == ROCE_EVENT_RETRANSMISSION && is_round) {
            n->again--;
        }
    }
}

static void
must_equal(scenario_verdict *v, const char *label, const char *what, uint64_t counter,
           uint64_t events)
{
    if (counter != events) {
        scenario_complain(v,
                          "%s: %" PRIu64 " %s counted, but %" PRIu64 " told by events",
                          label, counter, what, events);
    }
}

/* Counters and events say the same; so many pairings were found. */
static void
judge_tally(scenario_verdict *v, const roce_stream *s, const tally *n,
            uint64_t pairings)
{
    char label[16];
    scenario_label(s, label);
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    for (unsigned i = 0; i < ROCE_N_SPACES; i++) {
        const roce_disorder_counters *disorder = &trouble->disorder[i];
        must_equal(v, label, "gaps", disorder->gaps, n->gaps[i]);
        must_equal(v, label, "missing", disorder->missing_psns, n->missing[i]);
        /* What was in doubt may turn out to have been sent again. */
        if (disorder->reordered > n->late[i]) {
            must_equal(v, label, "late", disorder->reordered, n->late[i]);
        }
        if (disorder->duplicates > n->duplicates[i]) {
            must_equal(v, label, "duplicates", disorder->duplicates, n->duplicates[i]);
        }
        for (unsigned k = 0; k < ROCE_N_VERDICTS; k++) {
            must_equal(v, label, roce_verdict_name((roce_verdict)k),
                       trouble->losses[i][k], n->losses[i][k] - n->withdrawn[i][k]);
        }
        if (s->space[i].unique_psns > s->space[i].packets) {
            scenario_complain(v, "%s: more PSNs than packets", label);
        }
    }
    const roce_retransmission_counters *r = &trouble->retransmissions;
    /* The cause of the round that runs when a pairing is found may become known. */
    uint64_t told_unknown = n->by_cause[ROCE_CAUSE_UNKNOWN];
    uint64_t unknown = r->by_cause[ROCE_CAUSE_UNKNOWN];
    uint64_t moved = told_unknown - unknown <= pairings ? told_unknown - unknown : 0;
    uint64_t causes = 0;
    for (unsigned k = 0; k < ROCE_N_CAUSES; k++) {
        uint64_t told = n->by_cause[k];
        uint64_t more = r->by_cause[k] - told; /* less is a very large number */
        if (k != ROCE_CAUSE_UNKNOWN && k != ROCE_CAUSE_READ_REISSUE && more <= moved) {
            told += more;
        } else if (k == ROCE_CAUSE_UNKNOWN) {
            told -= moved;
        }
        causes += r->by_cause[k];
        must_equal(v, label, roce_cause_name((roce_cause)k), r->by_cause[k], told);
    }
    must_equal(v, label, "rounds", r->rounds, n->rounds);
    must_equal(v, label, "rounds by cause", r->rounds, causes);
    must_equal(v, label, "spurious rounds", r->spurious_rounds, n->spurious);
    must_equal(v, label, "restarts", trouble->restarts, n->restarts);
    must_equal(v, label, "packets sent again", r->packets, n->again);
    must_equal(v, label, "packets sent again", r->packets,
               trouble->disorder[ROCE_SPACE_REQUESTS].resent);
    if (r->spurious_rounds > r->rounds) {
        scenario_complain(v, "%s: more spurious rounds than rounds", label);
    }
    if (s->first_time_ns > s->last_time_ns) {
        scenario_complain(v, "%s: ends before it starts", label);
    }
}

static void
judge_event(scenario_verdict *v, const scenario_outcome *out, const roce_event *e)
{
    const char *name = roce_event_kind_name(e->kind);
    if (e->duration_ns > ABSURD) {
        scenario_complain(v, "%s at frame %" PRIu64 " has a negative duration", name,
                          e->frame);
    }
    if (e->time_ns < out->first_ns || e->time_ns > out->last_ns) {
        scenario_complain(v, "%s at frame %" PRIu64 " is outside the capture", name,
                          e->frame);
    }
    if (e->related_frame > e->frame && e->frame != 0) {
        scenario_complain(v, "%s at frame %" PRIu64 " speaks of a later frame", name,
                          e->frame);
    }
}

/* No sample is longer than the capture, and none comes without a pairing. */
static void
judge_latencies(scenario_verdict *v, const scenario_outcome *out, const roce_stream *s)
{
    char label[16];
    scenario_label(s, label);
    for (unsigned i = 0; i < ROCE_N_LATENCIES; i++) {
        const roce_histogram *h = roce_stream_latency(s, (roce_latency)i);
        const char *name = roce_latency_name((roce_latency)i);
        if (h == NULL) {
            continue;
        }
        if (h->count == 0 || h->min_ns > h->max_ns ||
            h->max_ns > out->last_ns - out->first_ns) {
            scenario_complain(v, "%s: %s is longer than the capture", label, name);
        }
        if (!roce_stream_is_paired(s)) {
            scenario_complain(v, "%s: %s of an unpaired stream", label, name);
        }
    }
}

/* Each mark has one answer, and lies in one episode. */
static void
judge_marks(scenario_verdict *v, const roce_stream *s)
{
    const roce_stream_congestion *c = roce_stream_congestion_of(s);
    uint64_t answers = 0;
    uint64_t marked = 0;
    for (unsigned i = 0; i < ROCE_N_CE_ANSWERS; i++) {
        answers += c->ce_answers[i];
    }
    for (uint32_t i = 0; i < c->n_episodes_kept; i++) {
        const roce_ce_episode *episode = &c->episodes[i];
        marked += episode->marked;
        if (episode->end_ns < episode->start_ns ||
            episode->data_packets < episode->marked) {
            scenario_complain(v, "a CE episode is shorter than its marks");
        }
    }
    uint64_t ce = s->ecn.codepoint[ROCE_ECN_CE];
    if (answers != ce || (c->n_episodes_kept == c->n_episodes && marked != ce)) {
        scenario_complain(v, "marks do not add up");
    }
}

/* There was no memory for a part of a stream, and the tracker says so: what belongs into
 * it was told, and is not counted. */
static bool
lacks_parts(const scenario_outcome *out)
{
    const roce_tracker_totals *totals = roce_tracker_totals_get(out->tracker);
    return out->fail_at != 0 && totals->evicted[ROCE_TABLE_STREAMS] > 0;
}

void
scenario_judge_invariants(scenario_verdict *v, const scenario_outcome *out)
{
    static tally tallies[MAX_STREAMS];
    uint32_t n = roce_tracker_n_streams(out->tracker);
    n = n < MAX_STREAMS ? n : MAX_STREAMS;
    memset(tallies, 0, n * sizeof tallies[0]);
    uint64_t pairings = 0;
    for (size_t i = 0; i < out->n_events; i++) {
        const roce_event *e = &out->events[i];
        judge_event(v, out, e);
        pairings += e->kind == ROCE_EVENT_CONNECTED ? 1 : 0;
        if (e->stream < n) {
            count_event(&tallies[e->stream], e);
            if (e->kind == ROCE_EVENT_STREAM_RESTART && e->related_frame != 0) {
                take_back(&tallies[e->stream], out, e);
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!lacks_parts(out)) {
            judge_marks(v, roce_tracker_stream(out->tracker, i));
            judge_tally(v, roce_tracker_stream(out->tracker, i), &tallies[i], pairings);
        }
        judge_latencies(v, out, roce_tracker_stream(out->tracker, i));
    }
    for (uint32_t i = 0; i < roce_tracker_n_pauses(out->tracker); i++) {
        const roce_pause_source *p = roce_tracker_pause(out->tracker, i);
        if (p->total_ns > ABSURD || p->longest_ns > p->total_ns) {
            scenario_complain(v, "a pause has a negative duration");
        }
    }
}

/* An event as a row wants it. */
typedef struct wanted_event {
    char kind[64], stream[16], evidence[32], space[16];
    bool none;
    bool has_frame, has_psn, has_n, has_rel, has_us, has_detail;
    uint64_t frame, psn, n, rel, us, detail;
} wanted_event;

static void
set_key(scenario_verdict *v, wanted_event *w, const char *key, const char *text)
{
    struct {
        const char *key;
        bool *has;
        uint64_t *value;
    } keys[] = {
        {"frame", &w->has_frame, &w->frame},
        {"psn", &w->has_psn, &w->psn},
        {"n", &w->has_n, &w->n},
        {"rel", &w->has_rel, &w->rel},
        {"us", &w->has_us, &w->us},
        {"detail", &w->has_detail, &w->detail},
    };
    if (strcmp(key, "evidence") == 0) {
        snprintf(w->evidence, sizeof w->evidence, "%.31s", text);
        return;
    }
    if (strcmp(key, "space") == 0) {
        snprintf(w->space, sizeof w->space, "%.15s", text);
        return;
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(keys[i].key, key) == 0 && scenario_number(text, keys[i].value)) {
            *keys[i].has = true;
            return;
        }
    }
    scenario_complain(v, "row: cannot read %s=%s of an event", key, text);
}

static wanted_event
read_wanted(scenario_verdict *v, const char **at)
{
    wanted_event w = {.none = false};
    char word[64];
    while (scenario_word(at, word)) {
        char *equals = strchr(word, '=');
        if (equals != NULL) {
            *equals = '\0';
            set_key(v, &w, word, equals + 1);
        } else if (strcmp(word, "no") == 0) {
            w.none = true;
        } else if (w.kind[0] == '\0') {
            snprintf(w.kind, sizeof w.kind, "%s", word);
        } else {
            snprintf(w.stream, sizeof w.stream, "%.15s", word);
        }
    }
    return w;
}

static bool
is_wanted(const scenario_outcome *out, const wanted_event *w, const roce_event *e)
{
    char label[16] = "";
    if (e->stream != ROCE_NO_STREAM) {
        scenario_label(roce_tracker_stream(out->tracker, e->stream), label);
    }
    const char *space = e->space == ROCE_SPACE_REQUESTS ? "requests" : "responses";
    return strcmp(w->kind, roce_event_kind_name(e->kind)) == 0 &&
           (w->stream[0] == '\0' || strcmp(w->stream, label) == 0) &&
           (w->space[0] == '\0' || strcmp(w->space, space) == 0) &&
           (w->evidence[0] == '\0' ||
            strcmp(w->evidence, roce_evidence_name(e->evidence)) == 0) &&
           (!w->has_frame || w->frame == e->frame) &&
           (!w->has_psn || w->psn == ((uint64_t)e->psn & 0xffffff)) &&
           (!w->has_n || w->n == e->count) &&
           (!w->has_rel || w->rel == e->related_frame) &&
           (!w->has_us || w->us == e->duration_ns / 1000) &&
           (!w->has_detail || w->detail == e->detail);
}

void
scenario_list_events(scenario_verdict *v, const scenario_outcome *out)
{
    for (size_t i = 0; i < out->n_events && i < 60; i++) {
        const roce_event *e = &out->events[i];
        char label[16] = "-";
        if (e->stream != ROCE_NO_STREAM) {
            scenario_label(roce_tracker_stream(out->tracker, e->stream), label);
        }
        scenario_complain(v,
                          "  %s %s frame=%" PRIu64 " psn=%" PRId64 " n=%" PRIu64
                          " rel=%" PRIu64 " us=%" PRIu64 " detail=%u %s",
                          roce_event_kind_name(e->kind), label, e->frame,
                          e->psn == ROCE_NO_PSN ? -1 : e->psn & 0xffffff, e->count,
                          e->related_frame, e->duration_ns / 1000, e->detail,
                          roce_evidence_name(e->evidence));
    }
}

void
scenario_judge_events(scenario_verdict *v, const scenario *row,
                      const scenario_outcome *out)
{
    size_t i = 0;
    for (const char *at = row->events; *at != '\0';) {
        const char *start = at;
        wanted_event w = read_wanted(v, &at);
        int length = (int)(at - start);
        size_t from = w.none ? 0 : i;
        size_t found = from;
        while (found < out->n_events && !is_wanted(out, &w, &out->events[found])) {
            found++;
        }
        if (w.none && found < out->n_events) {
            scenario_complain(v, "unwanted event:%.*s", length, start);
        } else if (!w.none && found == out->n_events) {
            scenario_complain(v, "no event: %.*s", length, start);
        } else if (!w.none) {
            i = found + 1;
        }
        at += *at != '\0' ? 1 : 0;
    }
}

static bool
same_event(const roce_event *a, const roce_event *b)
{
    return a->kind == b->kind && a->space == b->space && a->evidence == b->evidence &&
           a->detail == b->detail && a->point == b->point && a->stream == b->stream &&
           a->frame == b->frame && a->related_frame == b->related_frame &&
           a->time_ns == b->time_ns && a->duration_ns == b->duration_ns &&
           a->psn == b->psn && a->count == b->count;
}

bool
scenario_same_events(const scenario_outcome *a, const scenario_outcome *b)
{
    if (a->n_events != b->n_events) {
        return false;
    }
    for (size_t i = 0; i < a->n_events; i++) {
        if (!same_event(&a->events[i], &b->events[i])) {
            return false;
        }
    }
    return true;
}
