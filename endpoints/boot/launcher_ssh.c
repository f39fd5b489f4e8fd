/* Starts each daemon by a remote shell: `RSH HOST COMMANDLINE`. RSH is split
 * and quoted as a shell does. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/spawn/spawner.h"
#include "overlay/base/err.h"

/* Splits a command into its arguments; returns NULL when only a shell can do
 * that, or memory is out. The caller frees the array; the strings lie in
 * `copy`. */
static const char **split(char *copy)
{
    const char **words = calloc(strlen(copy) / 2 + 2, sizeof(*words));
    size_t count = 0;
    char *rest, *word = strtok_r(copy, " \t", &rest);

    for (; words != NULL && word != NULL; word = strtok_r(NULL, " \t", &rest)) {
        if (!text_buf_is_plain(word)) {
            free(words);
            return NULL;
        }
        words[count++] = word;
    }
    return words;
}

static int post(const struct ep_launch *launch, const char *const *argv)
{
    /* The remote shell runs in a session of its own. So it has no terminal on
     * which it could ask for a password, which would stop it in the background,
     * and gets no SIGINT from the terminal. */
    struct ep_spawn_job job = {.program.argv = argv,
                               .env = (const char *const *)environ,
                               .new_session = true};

    return ep_spawner_job(launch->spawner, launch->job, &job);
}

/* Runs a local shell for each host, when only a shell can split the command. */
static int announce_shell(const struct ep_launch *launch)
{
    struct text_buf script = {0};
    int rc = OV_ENOMEM;

    text_buf_printf(&script, "exec %s \"$@\"", launch->rsh);
    if (!script.bad) {
        const char *argv[] = {"/bin/sh", "-c", script.at, "sh", NULL};

        rc = post(launch, argv);
    }
    text_buf_fini(&script);
    return rc;
}

static int announce(const struct ep_launch *launch)
{
    char *copy = strdup(launch->rsh);
    const char **words = copy != NULL ? split(copy) : NULL;
    int rc = words != NULL ? post(launch, words) : announce_shell(launch);

    free(words);
    free(copy);
    return rc;
}

static void put_line(struct text_buf *out, const char *xylemd,
                     const char *const *words)
{
    text_buf_puts(out, "exec ");
    text_buf_shell_word(out, xylemd);
    for (; *words != NULL; words++) {
        text_buf_puts(out, " ");
        text_buf_shell_word(out, *words);
    }
}

static void put_program(struct text_buf *out, const char *xylemd,
                        const char *rsh)
{
    (void)xylemd;
    text_buf_printf(out, "the remote shell \"%s\"", rsh);
}

static const char *unfit(bool has_hosts, bool is_in_slurm)
{
    (void)is_in_slurm;
    return has_hosts ? NULL : "needs hosts: give --hosts or --hostfile";
}

const struct ep_launcher_ops ep_launcher_ssh = {
    .name = "ssh",
    .is_shell = true,
    .is_swept = true,
    .exec_hint = " (--rsh names the remote shell)",
    .unfit = unfit,
    .announce = announce,
    .put_line = put_line,
    .put_program = put_program,
};
