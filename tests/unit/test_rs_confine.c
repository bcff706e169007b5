/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A confined process: what it cannot do, and what it can as before.  Each row runs in a
 * process of its own, confined and not, so that what fails anyway is no row.
 */
#include "check.h"
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED 77

/* 0, or an errno. */
typedef int (*attempt)(void);

static int
errno_of(long result)
{
    return result < 0 ? errno : 0;
}

static int
open_socket(void)
{
    return errno_of(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int
make_pair(void)
{
    int fds[2];
    return errno_of(socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
}

static int
run_program(void)
{
    char *const arguments[] = {(char[]){"/nowhere"}, NULL};
    (void)execv(arguments[0], arguments);
    return errno == ENOENT ? 0 : errno; /* it was looked for */
}

static int
look_into(void)
{
    char byte = 1;
    char copy;
    struct {
        void *base;
        size_t size;
    } from = {&byte, 1}, to = {&copy, 1};
    return errno_of(syscall(SYS_process_vm_readv, getpid(), &to, 1, &from, 1, 0));
}

static int
leave_namespace(void)
{
    return errno_of(syscall(SYS_unshare, 0));
}

static int
open_file(void)
{
    return errno_of(open("/dev/null", O_RDWR));
}

static int
fork_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    return errno_of(child) != 0 ? errno : errno_of(waitpid(child, NULL, 0));
}

static void *
do_nothing(void *data)
{
    return data;
}

static int
start_thread(void)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, do_nothing, NULL);
    return error != 0 ? error : pthread_join(thread, NULL);
}

static int
rename_file(void)
{
    char from[] = "/tmp/rs_confine_XXXXXX";
    int fd = mkstemp(from);
    if (fd < 0) {
        return errno;
    }
    (void)close(fd);
    int error = errno_of(rename(from, from));
    (void)unlink(from);
    return error;
}

static int
gain_rights(void)
{
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? EPERM : 0;
}

/* How the kernel lets the processor guess that a load has nothing to do with the stores before
 * it: kernels before Linux 5.16 end that with a filter, unless they are told not to. */
static int
guess_loads(void)
{
    return prctl(PR_GET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, 0, 0, 0) & 0x3f;
}

static const struct {
    const char *name;
    attempt try;
    int confined;
} rows[] = {
    {"a socket", open_socket, EPERM},
    {"a pair of sockets", make_pair, EPERM},
    {"another program", run_program, EPERM},
    {"rights by another program", gain_rights, EPERM},
    {"memory of a process", look_into, EPERM},
    {"another namespace", leave_namespace, EPERM},
    {"a file", open_file, 0},
    {"a fork", fork_child, 0},
    {"a thread", start_thread, 0},
    {"a renamed file", rename_file, 0},
};

/* What an attempt comes to, in a process that is confined before or not. */
static int
outcome(attempt try, bool confined)
{
    pid_t child = fork();
    if (child == 0) {
        if (confined && !rs_confine()) {
            _exit(SKIPPED);
        }
        _exit(try());
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int
main(void)
{
    if (outcome(open_file, true) == SKIPPED) {
        puts("skipped: this kernel has no seccomp filters");
        return SKIPPED;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_row(rows[i].name);
        CHECK_INT(outcome(rows[i].try, false), 0);
        CHECK_INT(outcome(rows[i].try, true), rows[i].confined);
    }
    check_row("as fast as before");
    CHECK_INT(outcome(guess_loads, true), outcome(guess_loads, false));
    return check_status();
}
