/* The texts of errors about a daemon that did not become ready: which daemon,
 * what happened, what it printed itself, and what the user can do. */
#include "config.h"

#include "endpoints/boot/starter_words.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "endpoints/boot/boot.h"
#include "endpoints/boot/launcher.h"

enum {
    QUOTE_MAX = 1000,
    STATUS_NOT_EXECUTABLE = 126, /* exit statuses of shells */
    STATUS_NOT_FOUND = 127
};

static void put_host(struct text_buf *out, const struct ep_starter_who *who)
{
    if (who->host != NULL)
        text_buf_printf(out, "%s: ", who->host);
}

/* Names the command that runs on this machine for the daemon. */
static void put_program(struct text_buf *out, const struct ep_starter_who *who)
{
    ep_launcher_ops(who->launcher)->put_program(out, who->xylemd, who->rsh);
}

static void put_hint(struct text_buf *out, const char *hint)
{
    text_buf_puts(out, hint != NULL ? hint : "");
}

/* Adds the last QUOTE_MAX bytes, beginning with a whole line if possible. */
static void put_last(struct text_buf *out, const struct text_buf *last)
{
    const char *from = last->at;
    size_t len = last->len_bytes;

    if (len > QUOTE_MAX) {
        const char *line;

        from += len - QUOTE_MAX;
        len = QUOTE_MAX;
        line = memchr(from, '\n', len - 1);
        if (line != NULL) {
            len -= (size_t)(line + 1 - from);
            from = line + 1;
        }
    }
    text_buf_quote(out, from, len, QUOTE_MAX);
}

static void put_said(struct text_buf *out, const struct ep_starter_who *who)
{
    if (who->last->len_bytes > 0) {
        text_buf_puts(out, "; its stderr: ");
        put_last(out, who->last);
    }
    if (who->rubbish->len_bytes > 0) {
        text_buf_puts(out, "; its stdout: ");
        text_buf_quote(out, who->rubbish->at, who->rubbish->len_bytes,
                       QUOTE_MAX);
    }
}

void ep_starter_words_own(struct text_buf *out,
                          const struct ep_starter_who *who, const char *text)
{
    put_host(out, who);
    text_buf_quote(out, text, strlen(text), EP_BOOT_TEXT_MAX);
}

static void put_status(struct text_buf *out, int status)
{
    if (WIFSIGNALED(status))
        text_buf_printf(out, "killed by signal %d, %s", WTERMSIG(status),
                        strsignal(WTERMSIG(status)));
    else
        text_buf_printf(out, "exit status %d", WEXITSTATUS(status));
}

void ep_starter_words_exit(struct text_buf *out,
                           const struct ep_starter_who *who, int status)
{
    bool is_missing =
        WIFEXITED(status) && (WEXITSTATUS(status) == STATUS_NOT_FOUND ||
                              WEXITSTATUS(status) == STATUS_NOT_EXECUTABLE);

    put_host(out, who);
    put_program(out, who);
    text_buf_puts(out, ep_launcher_ops(who->launcher)->is_here
                           ? " ended before it was ready ("
                           : " ended before xylemd was ready (");
    put_status(out, status);
    text_buf_puts(out, ")");
    put_said(out, who);
    if (is_missing && ep_launcher_ops(who->launcher)->is_shell)
        text_buf_printf(out,
                        " (is xylem installed there as %s? --xylemd names the "
                        "daemon, --rsh the remote shell)",
                        who->xylemd);
}

void ep_starter_words_failed(struct text_buf *out,
                             const struct ep_starter_who *who, const char *step,
                             int err)
{
    put_host(out, who);
    text_buf_puts(out, "cannot start ");
    put_program(out, who);
    text_buf_printf(out, ": %s: %s", step, strerror(err));
    if (strcmp(step, "exec") == 0)
        put_hint(out, ep_launcher_ops(who->launcher)->exec_hint);
}

void ep_starter_words_late(struct text_buf *out,
                           const struct ep_starter_who *who, uint32_t waited_ms,
                           uint32_t time_ms)
{
    const char *hint = ep_launcher_ops(who->launcher)->late_hint;

    put_host(out, who);
    text_buf_printf(out, "timed out: xylemd was not ready after %g s",
                    (double)waited_ms / 1000);
    put_said(out, who);
    if (waited_ms == time_ms)
        put_hint(out, hint != NULL ? hint
                                   : " (--launch-timeout gives it more time)");
}

void ep_starter_words_gone(struct text_buf *out,
                           const struct ep_starter_who *who)
{
    put_host(out, who);
    text_buf_puts(out, "xylemd has ended before it was ready");
}

void ep_starter_words_babble(struct text_buf *out,
                             const struct ep_starter_who *who, const char *line)
{
    put_host(out, who);
    if (line != NULL) {
        text_buf_puts(out, "unexpected output instead of xylemd's: \"");
        text_buf_quote(out, line, strlen(line), QUOTE_MAX);
        text_buf_printf(out, "\" (is %s really xylemd?)", who->xylemd);
        return;
    }
    put_program(out, who);
    text_buf_puts(out, " printed more than 64 KiB before xylemd was ready");
    put_said(out, who);
    if (ep_launcher_ops(who->launcher)->is_shell)
        text_buf_puts(out, " (start-up files of the shell there, as .bashrc, "
                           "must print nothing when there is no terminal)");
}

void ep_starter_words_version(struct text_buf *out,
                              const struct ep_starter_who *who,
                              const char *version)
{
    char why[EP_BOOT_WHY_MAX];

    ep_boot_version_words(who->xylemd, who->host, version, ep_boot_version(),
                          why);
    text_buf_quote(out, why, strlen(why), sizeof(why));
}
