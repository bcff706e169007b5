/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workers.h"

#include "no_memory.h"
#include "pages.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_MS 200
#define READ_BYTES 4096
#define MAX_MESSAGE_BYTES (1024 * 1024)
#define NO_MEMORY_STATUS 112 /* how a worker ends that has no memory left */
#define OOM_SCORE "500" /* of 1000: before any process that does not offer itself */

struct rs_worker_line {
    int fd;
};

/* A worker at work. */
typedef struct worker {
    guint job_i;
    pid_t pid;
    int fd; /* -1: it has nothing more to tell */
    GString *heard;
    gint64 deadline_us; /* 0: none */
    gboolean late;      /* it was ended for that */
} worker;

typedef struct workers {
    const rs_workers_limits *limits;
    const rs_workers_class *class;
    void *ctx;
    GPtrArray *busy; /* worker */
} workers;

static volatile sig_atomic_t interrupted;

void
rs_workers_interrupt(void)
{
    interrupted = 1;
}

gboolean
rs_workers_interrupted(void)
{
    return interrupted != 0;
}

guint
rs_workers_n_processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                        : (int)g_get_num_processors();
    return (guint)MAX(n, 1);
}

/* ---- in the worker ---- */

static void
write_all(int fd, const char *bytes, gsize size)
{
    while (size > 0) {
        gssize n = write(fd, bytes, size);
        if (n < 0 && errno != EINTR) {
            _exit(EXIT_FAILURE); /* nobody listens any more */
        }
        if (n > 0) {
            bytes += n;
            size -= (gsize)n;
        }
    }
}

void
rs_worker_tell(rs_worker_line *parent, json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    if (text == NULL) {
        _exit(EXIT_FAILURE);
    }
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    write_all(parent->fd, line, strlen(line));
    free(text);
}

static void
offer_itself(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, OOM_SCORE, strlen(OOM_SCORE));
        (void)close(fd);
    }
}

/* What a worker has from its parent when it begins, which is not its own.  0: not known. */
static guint64
inherited_bytes(void)
{
    const guint data_field = 5; /* proc(5) */
    g_autofree char *text = NULL;
    if (!g_file_get_contents("/proc/self/statm", &text, NULL, NULL)) {
        return 0;
    }
    g_auto(GStrv) fields = g_strsplit(text, " ", -1);
    if (g_strv_length(fields) <= data_field) {
        return 0;
    }
    guint64 pages = g_ascii_strtoull(fields[data_field], NULL, 10);
    guint64 bytes = pages * (guint64)sysconf(_SC_PAGESIZE);
    return bytes - MIN(bytes, rs_pages_unused());
}

static void
limit_memory(guint64 bytes)
{
    struct rlimit limit;
    if (bytes > 0 && getrlimit(RLIMIT_DATA, &limit) == 0) {
        rlim_t most = (rlim_t)(bytes + inherited_bytes());
        limit.rlim_cur = limit.rlim_max = MIN(most, limit.rlim_max);
        (void)setrlimit(RLIMIT_DATA, &limit);
    }
}

/* The terminal's signals are for the parent, which ends its workers. */
static void
stand_apart(pid_t parent)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_FAILURE); /* it was gone before */
    }
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) {
        (void)dup2(null, STDIN_FILENO);
        (void)close(null);
    }
}

static _Noreturn void
be_worker(const workers *w, guint job_i, int fd, pid_t parent)
{
    stand_apart(parent);
    offer_itself();
    rs_no_memory_ends_with(NO_MEMORY_STATUS, NULL);
    rs_pages_be_one_of_many(w->limits->memory_bytes);
    limit_memory(w->limits->memory_bytes);
    rs_worker_line line = {.fd = fd};
    w->class->work(w->ctx, job_i, &line);
    _exit(EXIT_SUCCESS);
}

/* ---- in the parent ---- */

static void
free_worker(gpointer data)
{
    worker *one = data;
    if (one->fd >= 0) {
        (void)close(one->fd);
    }
    g_string_free(one->heard, TRUE);
    g_free(one);
}

/* Has a job done; whatever fails here is the job's end. */
static void
begin(workers *w, guint job_i)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0) {
        w->class->ended(w->ctx, job_i, "no pipe could be made for its worker");
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[0]);
        be_worker(w, job_i, ends[1], parent);
    }
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        w->class->ended(w->ctx, job_i, "no process could be made for its worker");
        return;
    }
    (void)setpgid(pid, pid); /* as it does itself: who comes first */
    worker *one = g_new0(worker, 1);
    one->job_i = job_i;
    one->pid = pid;
    one->fd = ends[0];
    one->heard = g_string_new(NULL);
    if (w->limits->timeout_s > 0) {
        one->deadline_us =
            g_get_monotonic_time() + (gint64)w->limits->timeout_s * G_USEC_PER_SEC;
    }
    g_ptr_array_add(w->busy, one);
}

/* Hands on the lines that are complete. */
static void
tell_lines(const workers *w, worker *one)
{
    for (char *end; (end = memchr(one->heard->str, '\n', one->heard->len)) != NULL;) {
        gsize length = (gsize)(end - one->heard->str);
        json_t *message = json_loadb(one->heard->str, length, 0, NULL);
        g_string_erase(one->heard, 0, (gssize)length + 1);
        if (message != NULL) {
            w->class->told(w->ctx, one->job_i, message);
            json_decref(message);
        }
    }
    if (one->heard->len > MAX_MESSAGE_BYTES) {
        g_string_truncate(one->heard, 0);
    }
}

static void
listen_to(const workers *w, worker *one)
{
    char piece[READ_BYTES];
    gssize n = read(one->fd, piece, sizeof piece);
    if (n > 0) {
        g_string_append_len(one->heard, piece, n);
        tell_lines(w, one);
    } else if (n == 0 || errno != EINTR) {
        (void)close(one->fd);
        one->fd = -1;
    }
}

/* Waits a little for any of them. */
static void
listen_to_all(const workers *w)
{
    guint n = w->busy->len;
    g_autofree struct pollfd *ends = g_new0(struct pollfd, n);
    for (guint i = 0; i < n; i++) {
        const worker *one = g_ptr_array_index(w->busy, i);
        ends[i] = (struct pollfd){.fd = one->fd, .events = POLLIN};
    }
    if (poll(ends, n, TICK_MS) <= 0) {
        return;
    }
    for (guint i = 0; i < n; i++) {
        if (ends[i].revents != 0) {
            listen_to(w, g_ptr_array_index(w->busy, i));
        }
    }
}

/* Why a worker ended, or NULL: as it should; g_free(). */
static char *
reason_of(const workers *w, const worker *one, int status)
{
    if (one->late) {
        return g_strdup_printf("took longer than %u s", w->limits->timeout_s);
    }
    if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        return g_strdup_printf("its worker was killed by signal %d (%s)", number,
                               g_strsignal(number));
    }
    if (WEXITSTATUS(status) == NO_MEMORY_STATUS) {
        return g_strdup("out of memory");
    }
    return WEXITSTATUS(status) == 0 ? NULL
                                    : g_strdup_printf("its worker ended with status %d",
                                                      WEXITSTATUS(status));
}

static void
kill_worker(const worker *one)
{
    (void)kill(-one->pid, SIGKILL);
    (void)kill(one->pid, SIGKILL); /* in case it has no group yet */
}

static void
end_late(const workers *w)
{
    gint64 now_us = g_get_monotonic_time();
    for (guint i = 0; i < w->busy->len; i++) {
        worker *one = g_ptr_array_index(w->busy, i);
        if (one->deadline_us > 0 && now_us >= one->deadline_us && !one->late) {
            one->late = TRUE;
            kill_worker(one);
        }
    }
}

/* Whoever has closed its line is waited for: it is ending. */
static void
bury(workers *w)
{
    for (guint i = w->busy->len; i > 0; i--) {
        worker *one = g_ptr_array_index(w->busy, i - 1);
        int status = 0;
        if (one->fd >= 0) {
            continue;
        }
        while (waitpid(one->pid, &status, 0) < 0 && errno == EINTR) {
        }
        g_autofree char *reason = reason_of(w, one, status);
        w->class->ended(w->ctx, one->job_i, reason);
        g_ptr_array_remove_index(w->busy, i - 1);
    }
}

static void
give_up(workers *w)
{
    for (guint i = 0; i < w->busy->len; i++) {
        const worker *one = g_ptr_array_index(w->busy, i);
        kill_worker(one);
        while (waitpid(one->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    g_ptr_array_set_size(w->busy, 0);
}

gboolean
rs_workers_run(const rs_workers_limits *limits, const rs_workers_class *class,
               void *ctx, guint n_jobs)
{
    g_autoptr(GPtrArray) busy = g_ptr_array_new_with_free_func(free_worker);
    workers w = {.limits = limits, .class = class, .ctx = ctx, .busy = busy};
    guint next = 0;
    while (!interrupted && (next < n_jobs || busy->len > 0)) {
        while (next < n_jobs && busy->len < limits->n_workers) {
            begin(&w, next++);
        }
        listen_to_all(&w);
        end_late(&w);
        bury(&w);
        class->tick(ctx);
    }
    gboolean done = next == n_jobs && busy->len == 0;
    give_up(&w);
    return done;
}
