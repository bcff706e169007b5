/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays scripts: text to packets to a tracker.  The language is in scenario.h.
 */
#include "scenario_stage.h"

#define START_NS 1000000000u /* so that clocks have room to step back */

/* clang-format off */
static const script_act acts[] = {
    {"send", ACT_PACKET, 0x04, 0, 0}, {"send.first", ACT_PACKET, 0x00, 0, 0},
    {"send.middle", ACT_PACKET, 0x01, 0, 0}, {"send.last", ACT_PACKET, 0x02, 0, 0},
    {"write", ACT_PACKET, 0x0a, 0, 0}, {"write.first", ACT_PACKET, 0x06, 0, 0},
    {"write.middle", ACT_PACKET, 0x07, 0, 0}, {"write.last", ACT_PACKET, 0x08, 0, 0},
    {"read", ACT_PACKET, 0x0c, 0, 0}, {"resp.first", ACT_PACKET, 0x0d, 0x1f, 0},
    {"resp.middle", ACT_PACKET, 0x0e, 0, 0}, {"resp.last", ACT_PACKET, 0x0f, 0x1f, 0},
    {"resp", ACT_PACKET, 0x10, 0x1f, 0}, {"atomack", ACT_PACKET, 0x12, 0x1f, 0},
    {"cas", ACT_PACKET, 0x13, 0, 0}, {"add", ACT_PACKET, 0x14, 0, 0},
    {"flush", ACT_PACKET, 0x1c, 0, 0}, {"atomwrite", ACT_PACKET, 0x1d, 0, 0},
    {"ack", ACT_PACKET, 0x11, 0x1f, 0}, {"rnr", ACT_PACKET, 0x11, 0x20, 0},
    {"reserved", ACT_PACKET, 0x11, 0x40, 0}, {"nak", ACT_PACKET, 0x11, 0x60, 0},
    {"invalid", ACT_PACKET, 0x11, 0x61, 0}, {"access", ACT_PACKET, 0x11, 0x62, 0},
    {"operational", ACT_PACKET, 0x11, 0x63, 0},
    {"uc.write", ACT_PACKET, 0x2a, 0, 0}, {"uc.write.first", ACT_PACKET, 0x26, 0, 0},
    {"uc.write.middle", ACT_PACKET, 0x27, 0, 0}, {"uc.write.last", ACT_PACKET, 0x28, 0, 0},
    {"ud.send", ACT_PACKET, 0x64, 0, 0}, {"cnp", ACT_PACKET, 0x81, 0, 0},
    {"xrc.send", ACT_PACKET, 0xa4, 0, 0}, {"xrc.ack", ACT_PACKET, 0xb1, 0x1f, 0},
    {"xrc.nak", ACT_PACKET, 0xb1, 0x60, 0}, {"unknown", ACT_PACKET, 0x15, 0, 0},
    {"cm.req", ACT_CM, 0x64, 0, ROCE_CM_REQ}, {"cm.rep", ACT_CM, 0x64, 0, ROCE_CM_REP},
    {"cm.rtu", ACT_CM, 0x64, 0, ROCE_CM_RTU}, {"cm.rej", ACT_CM, 0x64, 0, ROCE_CM_REJ},
    {"cm.dreq", ACT_CM, 0x64, 0, ROCE_CM_DREQ}, {"cm.drep", ACT_CM, 0x64, 0, ROCE_CM_DREP},
    {"pfc", ACT_PFC, 0, 0, 0}, {"pause", ACT_PAUSE, 0, 0, 0},
};
/* clang-format on */

static const char *const option_names[N_OPTIONS] = {
    [OPTION_LEN] = "len",       [OPTION_COPY] = "copy",   [OPTION_TIMER] = "timer",
    [OPTION_QUANTA] = "q",      [OPTION_POINT] = "point", [OPTION_DQPN] = "dqpn",
    [OPTION_PORT] = "port",     [OPTION_QPN] = "qpn",     [OPTION_PSN] = "psn",
    [OPTION_COMM] = "comm",     [OPTION_RCOMM] = "rcomm", [OPTION_REASON] = "reason",
    [OPTION_ECN] = "codepoint", [OPTION_IDENT] = "ident", [OPTION_VNI] = "vni",
    [OPTION_AROUND] = "around", [OPTION_VA] = "va",       [OPTION_MSN] = "msn",
};

void
scenario_trouble(stage *g, const char *what, const char *where)
{
    if (g->out->trouble[0] == '\0') {
        snprintf(g->out->trouble, sizeof g->out->trouble, "script: %s at \"%.60s\"",
                 what, where);
    }
}

static bool
may_allocate(scenario_outcome *out)
{
    out->n_allocations++;
    return out->fail_at == 0 || (out->fail_on ? out->n_allocations < out->fail_at
                                              : out->n_allocations != out->fail_at);
}

static void *
resize(void *ctx, void *old, size_t size)
{
    scenario_outcome *out = ctx;
    if (!may_allocate(out)) {
        return NULL;
    }
    void *made = realloc(old, size);
    if (made != NULL && old == NULL) {
        out->n_live++;
        memset(made, 0xa5, size); /* nobody may count on zeros */
    }
    return made;
}

static void *
zeroed(void *ctx, size_t size)
{
    scenario_outcome *out = ctx;
    void *made = may_allocate(out) ? calloc(1, size) : NULL;
    out->n_live += made != NULL;
    return made;
}

static void
release(void *ctx, void *old)
{
    scenario_outcome *out = ctx;
    out->n_live--;
    free(old);
}

static void
take_event(void *ctx, const roce_event *event)
{
    scenario_outcome *out = ctx;
    if (out->n_events == out->events_capacity) {
        size_t more = out->events_capacity == 0 ? 256 : out->events_capacity * 2;
        roce_event *grown = realloc(out->events, more * sizeof *grown);
        if (grown == NULL) {
            abort();
        }
        out->events = grown;
        out->events_capacity = more;
    }
    out->events[out->n_events++] = *event;
}

static void
take_relation(void *ctx, const roce_relation *r)
{
    static const char *const kinds[] = {
        [ROCE_RELATION_COVERS] = "covers",
        [ROCE_RELATION_NAMES] = "names",
        [ROCE_RELATION_ANSWERS] = "answers",
        [ROCE_RELATION_FOLLOWS] = "follows",
    };
    scenario_outcome *out = ctx;
    char text[96];
    if (r->kind == ROCE_RELATION_TAKES) {
        snprintf(text, sizeof text, "%d takes %dus from %d as %s; ", (int)r->frame,
                 (int)(r->duration_ns / 1000), (int)r->to,
                 roce_latency_name(r->latency));
    } else {
        snprintf(text, sizeof text, "%d %s %d; ", (int)r->frame, kinds[r->kind],
                 (int)r->to);
    }
    if (strlen(out->relations) + strlen(text) < sizeof out->relations) {
        strcat(out->relations, text);
    }
}

static uint64_t
link_speed(void *ctx, uint32_t point)
{
    const scenario_outcome *out = ctx;
    (void)point;
    return out->link_speed_bps;
}

static roce_vantage
vantage(void *ctx, uint32_t point, const roce_addr *src, const roce_addr *dst)
{
    const scenario_outcome *out = ctx;
    (void)point;
    if (out->told_at == 'n') {
        return ROCE_VANTAGE_MIDDLE;
    }
    uint8_t host = out->told_at == 'a' ? 1 : 2;
    return src->bytes[3] == host   ? ROCE_VANTAGE_REQUESTER
           : dst->bytes[3] == host ? ROCE_VANTAGE_RESPONDER
                                   : ROCE_VANTAGE_UNKNOWN;
}

/* The next word of a step, copied into `word`; false at its end. */
static bool
next_word(const char **at, char *word, size_t size)
{
    size_t n = 0;
    while (**at == ' ') {
        (*at)++;
    }
    while (**at != '\0' && **at != ' ' && **at != ';' && **at != '\n') {
        if (n + 1 < size) {
            word[n++] = **at;
        }
        (*at)++;
    }
    word[n] = '\0';
    return n > 0;
}

static bool
set_option(options *o, const char *word)
{
    /* clang-format off */
    static const struct { const char *name; unsigned flag; int ecn; } words[] = {
        {"drop", FLAG_DROP, -1}, {"bad", FLAG_BAD, -1}, {"cut", FLAG_CUT, -1},
        {"weak", FLAG_WEAK, -1}, {"notect", 0, 0}, {"ect1", 0, 1}, {"ect0", 0, 2},
        {"ce", 0, 3},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i].name) == 0) {
            o->flags |= words[i].flag;
            if (words[i].ecn >= 0) {
                o->given[OPTION_ECN] = true;
                o->value[OPTION_ECN] = (uint32_t)words[i].ecn;
            }
            return true;
        }
    }
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    for (unsigned k = 0; k < N_OPTIONS; k++) {
        if (strlen(option_names[k]) == length &&
            strncmp(option_names[k], word, length) == 0) {
            o->given[k] = true;
            o->value[k] = equals != NULL ? (uint32_t)strtoul(equals + 1, NULL, 0) : 0;
            return true;
        }
    }
    return false;
}

static const script_act *
find_act(const char *what)
{
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        if (strcmp(acts[i].what, what) == 0) {
            return &acts[i];
        }
    }
    return NULL;
}

/* One packet for each number of "3", "0..9", "1,4..6"; pause frames take them all. */
static void
play_numbers(stage *g, const script_act *act, char who, unsigned qp,
             const char *numbers, const options *o)
{
    uint16_t enabled = 0;
    const char *at = numbers;
    do {
        char *end;
        uint32_t from = (uint32_t)strtoul(at, &end, 0);
        uint32_t to = from;
        if (strncmp(end, "..", 2) == 0) {
            to = (uint32_t)strtoul(end + 2, &end, 0);
        }
        for (uint32_t n = from; n <= to; n++) {
            if (act->kind == ACT_PACKET || act->kind == ACT_CM) {
                scenario_play_packet(g, act, who, qp, n & 0xffffffu, o);
            } else {
                enabled = (uint16_t)(enabled | 1u << n);
            }
        }
        at = end + 1;
        if (*end != ',' && *end != '\0') {
            scenario_trouble(g, "no number", numbers);
            return;
        }
        if (*end == '\0') {
            break;
        }
    } while (true);
    if (act->kind == ACT_PFC || act->kind == ACT_PAUSE) {
        scenario_play_pause(g, act->kind, qp, act->kind == ACT_PFC ? enabled : 0, o);
    }
}

/* Plays one step and returns where the next one is. */
static const char *
play_step(stage *g, const char *step)
{
    char who[64];
    char word[64];
    char numbers[64] = "0";
    const char *at = step;
    if (!next_word(&at, who, sizeof who)) {
        return at;
    }
    if (who[0] == '+') {
        g->now_ns += strtoull(who + 1, NULL, 0) * 1000;
        return at;
    }
    if (strncmp(who, "t=", 2) == 0) {
        g->now_ns = START_NS + strtoull(who + 2, NULL, 0) * 1000;
        return at;
    }
    bool all = strcmp(who, "all") == 0;
    options o = g->all;
    const script_act *act = NULL;
    if (!all && (!next_word(&at, word, sizeof word) || strchr("abxs", who[0]) == NULL ||
                 (act = find_act(word)) == NULL)) {
        scenario_trouble(g, "unknown step", step);
        return at;
    }
    while (next_word(&at, word, sizeof word)) {
        if (word[0] >= '0' && word[0] <= '9') {
            snprintf(numbers, sizeof numbers, "%s", word);
        } else if (!set_option(&o, word)) {
            scenario_trouble(g, "unknown option", word);
        }
    }
    if (all) {
        g->all = o;
    } else {
        unsigned qp = who[1] != '\0' ? (unsigned)(who[1] - '0') % 10 : 0;
        play_numbers(g, act, who[0], qp, numbers, &o);
    }
    return at;
}

static void
tell_pairs(stage *g)
{
    roce_addr a = scenario_host(g, 1);
    roce_addr b = scenario_host(g, 2);
    for (uint32_t k = 0; k < 10; k++) {
        switch (g->row->pairs) {
        case SCENARIO_PAIRS_KNOWN:
            (void)roce_tracker_add_pair(g->tracker, &a, 0x100 + k, &b, 0x200 + k);
            break;
        case SCENARIO_PAIRS_TABLE:
            (void)roce_tracker_add_queue_pair(g->tracker, &a, 1, 0x100 + k, 0x200 + k);
            break;
        case SCENARIO_PAIRS_WRONG_TABLE:
            (void)roce_tracker_add_queue_pair(g->tracker, &a, 1, 0x100 + k, 0x209 - k);
            break;
        case SCENARIO_PAIRS_UNKNOWN:
            break;
        }
    }
}

static void
open_tracker(stage *g)
{
    const scenario *row = g->row;
    scenario_outcome *out = g->out;
    roce_alloc alloc = {
        .resize = resize, .release = release, .ctx = out, .zeroed = zeroed};
    roce_tracker_config config;
    roce_tracker_config_init(&config);
    config.event = take_event;
    config.relation = take_relation;
    config.ctx = out;
    if (row->link_speed_bps != 0) {
        config.link_speed_bps = link_speed;
    }
    if (row->told_at != '\0') {
        config.vantage = vantage;
    }
    if (row->max_streams != 0) {
        config.max_streams = row->max_streams;
    }
    if (row->max_history_packets != 0) {
        config.max_history_packets = row->max_history_packets;
    }
    if (row->history_room_packets != 0) {
        config.history_room_packets = row->history_room_packets;
    }
    if (row->histogram_room_buckets != 0) {
        config.histogram_room_buckets = row->histogram_room_buckets;
    }
    if (row->ce_episode_pause_us != 0) {
        config.ce_episode_pause_ns = row->ce_episode_pause_us * 1000;
    }
    if (row->path_delay_us != 0) {
        config.path_delay_ns = row->path_delay_us * 1000;
    }
    if (roce_tracker_new(&out->tracker, &alloc, &config) != ROCE_OK) {
        out->tracker = NULL;
    }
    g->tracker = out->tracker;
}

void
scenario_play(const scenario *row, scenario_outcome *out)
{
    stage g = {.row = row, .out = out, .now_ns = START_NS, .noise = 12345};
    *out = (scenario_outcome){
        .link_speed_bps = row->link_speed_bps,
        .told_at = row->told_at,
        .fail_at = row->fail_at,
        .fail_on = row->fail_on,
        .first_ns = UINT64_MAX,
    };
    for (unsigned i = 0; i < 30; i++) {
        g.next_ident[i / 10][i % 10] = (uint16_t)(1000 * (i + 1));
    }
    g.sent = malloc(SCENARIO_MAX_SENT * sizeof *g.sent);
    if (g.sent == NULL) {
        abort();
    }
    open_tracker(&g);
    if (g.tracker != NULL) {
        tell_pairs(&g);
        for (const char *at = row->script; *at != '\0';) {
            at = play_step(&g, at);
            at += *at != '\0' ? 1 : 0;
        }
        roce_tracker_finish(g.tracker);
    }
    free(g.sent);
}

void
scenario_outcome_clear(scenario_outcome *out)
{
    roce_tracker_free(out->tracker);
    free(out->events);
    out->tracker = NULL;
    out->events = NULL;
}
