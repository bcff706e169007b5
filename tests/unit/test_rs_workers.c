/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workers: each job ends once, and none harms another. */
#include "workers.h"

#include "check.h"
#include "sanitized.h"

#include <signal.h>
#include <unistd.h>

#define N_ROWS(table) (sizeof(table) / sizeof(table)[0])
#define MIB ((gsize)1024 * 1024)

/* AddressSanitizer has memory of its own, more than any limit. */
#ifdef CHECK_SANITIZED
#define MEMORY_BYTES 0
#else
#define MEMORY_BYTES (64 * MIB)
#endif

typedef void (*deed)(rs_worker_line *parent);

static void
tell_two(rs_worker_line *parent)
{
    rs_worker_tell(parent, json_pack("{s:i}", "n", 1));
    rs_worker_tell(parent, json_pack("{s:i}", "n", 2));
}

static void
tell_much(rs_worker_line *parent)
{
    g_autofree char *text = g_strnfill(100000, 'x');
    rs_worker_tell(parent, json_pack("{s:i,s:s}", "n", 7, "text", text));
}

static void
fail(rs_worker_line *parent)
{
    (void)parent;
    _exit(3);
}

static void
be_killed(rs_worker_line *parent)
{
    rs_worker_tell(parent, json_pack("{s:i}", "n", 5));
    (void)raise(SIGKILL);
}

static void
lack_memory(rs_worker_line *parent)
{
    (void)parent;
    g_error("out of memory");
}

static void
take_memory(rs_worker_line *parent)
{
    (void)parent;
    while (MEMORY_BYTES > 0) {
        char *bytes = g_malloc(16 * MIB);
        memset(bytes, 1, 16 * MIB);
    }
    g_error("out of memory");
}

static void
hang(rs_worker_line *parent)
{
    (void)parent;
    sleep(1000);
}

/* clang-format off */
static const struct {
    const char *name;
    deed work;
    int sum; /* of what it tells */
    const char *reason;
} jobs[] = {
    {"tells", tell_two, 3, NULL},
    {"ends badly", fail, 0, "its worker ended with status 3"},
    {"is killed", be_killed, 5, "its worker was killed by signal 9 (Killed)"},
    {"has no memory left", lack_memory, 0, "out of memory"},
    {"takes more than it may", take_memory, 0, "out of memory"},
    {"hangs", hang, 0, "took longer than 4 s"},
    {"tells much", tell_much, 7, NULL},
};
/* clang-format on */

typedef struct outcome {
    int sum, n_ended;
    char *reason;
} outcome;

static void
work(void *ctx, guint job_i, rs_worker_line *parent)
{
    (void)ctx;
    jobs[job_i].work(parent);
}

static void
told(void *ctx, guint job_i, const json_t *message)
{
    outcome *outcomes = ctx;
    outcomes[job_i].sum += (int)json_integer_value(json_object_get(message, "n"));
}

static void
ended(void *ctx, guint job_i, const char *reason)
{
    outcome *outcomes = ctx;
    outcomes[job_i].n_ended++;
    outcomes[job_i].reason = g_strdup(reason);
}

static void
ignore_tick(void *ctx)
{
    (void)ctx;
}

static const rs_workers_class class = {work, told, ended, ignore_tick};

static void
check_jobs(guint n_workers)
{
    const rs_workers_limits limits = {
        .n_workers = n_workers, .memory_bytes = MEMORY_BYTES, .timeout_s = 4};
    outcome outcomes[N_ROWS(jobs)] = {{0}};
    CHECK(rs_workers_run(&limits, &class, outcomes, N_ROWS(jobs)));
    for (size_t i = 0; i < N_ROWS(jobs); i++) {
        check_row(jobs[i].name);
        CHECK_INT(outcomes[i].n_ended, 1);
        CHECK_INT(outcomes[i].sum, jobs[i].sum);
        CHECK_STR(outcomes[i].reason, jobs[i].reason);
        g_free(outcomes[i].reason);
    }
}

static void
interrupt(void *ctx)
{
    (void)ctx;
    rs_workers_interrupt();
}

/* To be the last: it cannot be undone. */
static void
check_interrupt(void)
{
    check_row("interrupted");
    const rs_workers_class impatient = {work, told, ended, interrupt};
    const rs_workers_limits limits = {.n_workers = 1};
    outcome outcomes[N_ROWS(jobs)] = {{0}};
    CHECK(!rs_workers_run(&limits, &impatient, outcomes, N_ROWS(jobs)));
    CHECK(rs_workers_interrupted());
    CHECK_INT(outcomes[N_ROWS(jobs) - 1].n_ended, 0);
    for (size_t i = 0; i < N_ROWS(jobs); i++) {
        g_free(outcomes[i].reason);
    }
}

int
main(void)
{
    check_jobs(1);
    check_jobs(4);
    CHECK(rs_workers_n_processors() >= 1);
    check_interrupt();
    return check_status();
}
