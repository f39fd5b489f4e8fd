/* Keeps foreign libraries from changing the process while they load.
 *
 * Distributions link libfabric with libraries whose constructors take over
 * SIGINT, SIGILL, SIGABRT, SIGBUS, SIGSEGV and SIGTERM to write backtraces.
 * Between begin and end, environment variables forbid this, and forbid
 * libfabric to allocate memory that is never used. At the end every signal
 * disposition is as it was, and so is the environment, which children inherit.
 * Must not be used while other threads read the environment.
 *
 * This is a header only: the program uses it around dlopen(), the module around
 * the first call of libfabric, and neither links the other.
 */
#ifndef ENDPOINTS_SYS_QUIET_H
#define ENDPOINTS_SYS_QUIET_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum { EP_QUIET_SIGNALS = 65, EP_QUIET_VARS = 3 };

struct ep_quiet_var {
    const char *name, *value;
};

struct ep_quiet {
    struct sigaction was[EP_QUIET_SIGNALS];
    bool is_known[EP_QUIET_SIGNALS];
    bool is_ours[EP_QUIET_VARS]; /* we have set the variable */
};

/* The variables that are set. One that the user has set stays as it is. */
static inline struct ep_quiet_var ep_quiet_var(size_t i)
{
    static const struct ep_quiet_var vars[EP_QUIET_VARS] = {
        {"IPATH_NO_BACKTRACE", "1"},
        {"HFI_NO_BACKTRACE", "1"},
        /* Without this, tcp of libfabric 2 keeps 16 KiB beside each receive for
         * messages that are never waited for: 17 MB for the first link. */
        {"FI_TCP_MAX_RX_SIZE", "256"},
    };

    return vars[i];
}

static inline void ep_quiet_begin(struct ep_quiet *q)
{
    for (int sig = 1; sig < EP_QUIET_SIGNALS; sig++)
        q->is_known[sig] = sigaction(sig, NULL, &q->was[sig]) == 0;
    for (size_t i = 0; i < EP_QUIET_VARS; i++) {
        q->is_ours[i] = getenv(ep_quiet_var(i).name) == NULL;
        if (q->is_ours[i])
            setenv(ep_quiet_var(i).name, ep_quiet_var(i).value, 1);
    }
}

static inline void ep_quiet_end(const struct ep_quiet *q)
{
    struct sigaction now;

    for (int sig = 1; sig < EP_QUIET_SIGNALS; sig++)
        if (q->is_known[sig] && sigaction(sig, NULL, &now) == 0 &&
            now.sa_handler != q->was[sig].sa_handler)
            sigaction(sig, &q->was[sig], NULL);
    for (size_t i = 0; i < EP_QUIET_VARS; i++)
        if (q->is_ours[i])
            unsetenv(ep_quiet_var(i).name);
}

#endif
