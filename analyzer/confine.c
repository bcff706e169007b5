/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "confine.h"

#include <errno.h>
#include <seccomp.h>

/* By what they would be good for. */
static const int refused[] = {
    /* other programs, with other rights */
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(setuid),
    SCMP_SYS(setgid),
    SCMP_SYS(capset),
    /* the network */
    SCMP_SYS(socket),
    SCMP_SYS(socketpair),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    /* other processes */
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kcmp),
    /* another view of the file system */
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(open_by_handle_at),
    /* large parts of the kernel */
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    /* the machine */
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(acct),
    SCMP_SYS(quotactl),
};

/* What this machine's kernel does not have is refused by itself. */
static void
refuse(scmp_filter_ctx filter)
{
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        (void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
    }
}

/* Kernels before Linux 5.16 take who asks for a filter for one that runs code of others, against
 * which they have the processor wait with each load until it knows where all stores before it
 * go: that takes a good part of its speed.  No such code runs here. */
static void
stay_fast(scmp_filter_ctx filter)
{
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
}

gboolean
rs_confine(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == NULL) {
        return FALSE;
    }
    refuse(filter);
    stay_fast(filter);
    gboolean done =
        seccomp_load(filter) == 0; /* with no_new_privs, as is its default */
    seccomp_release(filter);
    return done;
}
