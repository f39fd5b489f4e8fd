/* PMIx tools of `xylem run`: the desk that they connect to (pmix_api/desk.h),
 * and the folder by which they find it. Everything else is done by the helper
 * of each tool, a client of the session's door. */
#include "commands/run_pmix.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/refuse.h"
#include "commands/run_folders.h"
#include "endpoints/client/desk.h"
#include "endpoints/client/folder.h"
#include "endpoints/sys/beside.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"
#include "pmix_api/desk.h"
#include "pmix_api/folder.h"
#include "pmix_api/rendezvous.h"

enum { ALLOW_USER = 1, ALLOW_ROOT = 2 };

enum {
    NAME_BYTES = 256,
    TEXT_BYTES = 3 * PX_PATH_MAX,
    FIRST_MS = 1000, /* time from the launch until the desk starts its first
                        helper */
    SOON_MS = 200,   /* time until the first helper starts, once the first
                      * processes run */
    DVM_TRIES = 3,   /* few, as the program that started the dvm waits until
                        tools can connect */
};

/* A process has only one of these structures. */
static struct run_tools {
    struct ep_desk_cfg run;
    struct px_desk *desk;       /* owned */
    char helper[EP_BESIDE_MAX]; /* path of the helper's program */
    char doors[PX_PATH_MAX], session[16], server[NAME_BYTES];
    char *argv[6];            /* arguments of the helper, see
                                 pmix_api/helper/tie.h */
    char folder[PX_PATH_MAX]; /* the folder of the rendezvous files; "": there
                                 is none */
    char why[TEXT_BYTES];     /* why tools cannot be served; "" when they can */
    struct stat file;         /* describes the file that put_file() has made */
    bool has_file;
} opened;

/* --- who may connect */

static uint8_t allowed = ALLOW_USER | ALLOW_ROOT;

static bool find_user(const char *word, uid_t *uid)
{
    const struct passwd *user = getpwnam(word);
    char *end;
    unsigned long number = strtoul(word, &end, 10);

    *uid = user != NULL ? user->pw_uid : (uid_t)number;
    return user != NULL || (end != word && *end == '\0' && *uid == number);
}

static uint8_t bits_of(const char *word)
{
    uint8_t bits = 0;
    uid_t uid;

    if (!find_user(word, &uid))
        usage("--pmix-allow: there is no user '%s'", word);
    if (uid == geteuid())
        bits |= ALLOW_USER;
    if (uid == 0)
        bits |= ALLOW_ROOT;
    if (bits == 0)
        usage("--pmix-allow takes the user of the job and root, not '%s'",
              word);
    return bits;
}

void run_pmix_allow(const char *users)
{
    char *list = strdup(users), *rest = NULL;

    allowed = 0;
    for (char *word = list != NULL ? strtok_r(list, ",", &rest) : NULL;
         word != NULL; word = strtok_r(NULL, ",", &rest))
        allowed |= bits_of(word);
    free(list);
    if (allowed == 0)
        usage("--pmix-allow names no user: give --no-pmix so that no tool can "
              "connect");
}

/* --- calls from the desk */

/* Writes the rendezvous file that the environment names: a tool that has
 * started this launcher waits for it. */
static void put_file(struct run_tools *tools)
{
    const char *path = px_rendezvous_path();
    char from[PX_PATH_MAX + NAME_BYTES + 16], here[NAME_BYTES] = "", text[512];

    if (path == NULL)
        return;
    gethostname(here, sizeof(here) - 1);
    snprintf(from, sizeof(from), "%s/pmix.%s.tool", tools->folder, here);
    tools->has_file = px_rendezvous_put(from, path, &tools->file) == 0;
    if (tools->has_file)
        return;
    snprintf(text, sizeof(text),
             "the rendezvous file %.300s cannot be written: %s", path,
             errno == EEXIST ? "it exists already and is not overwritten"
                             : strerror(errno));
    tools->run.events->on_say(tools->run.arg, text);
}

static void on_up(void *arg, const char *uri)
{
    struct run_tools *tools = arg;
    char text[TEXT_BYTES];

    put_file(tools);
    snprintf(text, sizeof(text), "PMIx tools can connect to %s, or by %s", uri,
             tools->folder);
    tools->run.events->on_note(tools->run.arg, text);
    tools->run.events->on_up(tools->run.arg, uri);
}

/* Handles that tools cannot be served: a dvm must end then; a run reports it
 * with --verbose only. */
static void give_up(struct run_tools *tools, const char *why)
{
    const struct ep_desk_events *events = tools->run.events;
    char text[TEXT_BYTES];

    snprintf(text, sizeof(text), "%.500s%s (%s, with files below %.500s)", why,
             tools->run.is_dvm ? ": a dvm is of no use without them" : "",
             tools->helper, px_folder_top());
    if (tools->run.is_dvm)
        events->on_given_up(tools->run.arg, text);
    else
        events->on_note(tools->run.arg, text);
}

static void on_given_up(void *arg, const char *why)
{
    struct run_tools *tools = arg;

    tools->run.events->on_up(tools->run.arg, NULL);
    give_up(tools, why);
}

static void on_say(void *arg, const char *text)
{
    struct run_tools *tools = arg;

    tools->run.events->on_say(tools->run.arg, text);
}

static void on_note(void *arg, const char *text)
{
    struct run_tools *tools = arg;

    tools->run.events->on_note(tools->run.arg, text);
}

/* --- opening the desk */

static int name_folder(struct run_tools *tools)
{
    if (px_folder_name(run_folders_open(), tools->folder) == 0)
        return 0;
    tools->folder[0] = '\0';
    snprintf(tools->why, sizeof(tools->why),
             "cannot make a directory in %s: %s", px_folder_top(),
             strerror(errno));
    return OV_ESYS;
}

static void close_folder(struct run_tools *tools)
{
    if (tools->folder[0] != '\0')
        px_folder_remove(tools->folder);
    tools->folder[0] = '\0';
    run_folders_close();
}

static int open_desk(struct run_tools *tools)
{
    const bool is_awaited = px_rendezvous_path() != NULL || tools->run.is_dvm;
    const struct px_desk_cfg cfg = {
        .base = tools->run.base,
        .path = tools->helper,
        .argv = tools->argv,
        .folder = tools->folder,
        .job = tools->run.nspace,
        .allows_user = (allowed & ALLOW_USER) != 0,
        .allows_root = (allowed & ALLOW_ROOT) != 0,
        .first_ms = is_awaited ? 0 : FIRST_MS,
        .take_ms = PX_DESK_TAKE_MS,
        .pause_ms = PX_DESK_PAUSE_MS,
        .tries_max = tools->run.is_dvm ? DVM_TRIES : PX_DESK_TRIES,
        .on_up = on_up,
        .on_given_up = on_given_up,
        .on_say = on_say,
        .on_note = on_note,
        .arg = tools,
    };

    if (px_desk_open(&cfg, &tools->desk) == 0)
        return 0;
    snprintf(tools->why, sizeof(tools->why), "%s", ov_strerror(OV_ENOMEM));
    return OV_ENOMEM;
}

/* Finds the absolute path of the folder of the session's door, which the helper
 * gets as an argument. */
static int find_doors(struct run_tools *tools)
{
    char why[EP_WHY_MAX], link[32];
    int folder = ep_door_folder_make(why);
    ssize_t len;

    if (folder < 0) {
        snprintf(tools->why, sizeof(tools->why), "%s", why);
        return OV_ESYS;
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
    len = readlink(link, tools->doors, sizeof(tools->doors) - 1);
    if (len < 0)
        snprintf(tools->why, sizeof(tools->why), "%s: %s", link,
                 strerror(errno));
    close(folder);
    if (len < 0)
        return OV_ESYS;
    tools->doors[len] = '\0';
    snprintf(tools->session, sizeof(tools->session), "%d", (int)getpid());
    snprintf(tools->server, sizeof(tools->server), "%.200s-server",
             tools->run.nspace);
    tools->argv[0] = tools->helper;
    tools->argv[1] = tools->doors;
    tools->argv[2] = tools->session;
    tools->argv[3] = tools->server;
    tools->argv[4] = tools->folder;
    return 0;
}

static void say_why(struct run_tools *tools)
{
    char text[TEXT_BYTES];

    snprintf(text, sizeof(text), "PMIx tools cannot connect: %.500s",
             tools->why);
    give_up(tools, text);
}

static void *tools_open(const struct ep_desk_cfg *run)
{
    opened = (struct run_tools){.run = *run};
    if (ep_beside_find("xylem-pmix", "XYLEM_PMIX", "pmix_api", opened.helper) !=
        0) {
        run->events->on_note(
            run->arg,
            "this xylem was built without PMIx: tools cannot connect");
        return NULL;
    }
    if (name_folder(&opened) == 0 && find_doors(&opened) == 0 &&
        open_desk(&opened) == 0)
        return &opened;
    close_folder(&opened);
    say_why(&opened);
    return NULL;
}

static void tools_started(void *desk)
{
    px_desk_start_in(((struct run_tools *)desk)->desk, SOON_MS);
}

static void tools_close(void *desk)
{
    struct run_tools *tools = desk;

    if (tools->has_file)
        px_rendezvous_remove(px_rendezvous_path(), &tools->file);
    px_desk_close(tools->desk);
    close_folder(tools);
}

static const struct ep_desk_ops ops = {
    .open = tools_open,
    .close = tools_close,
    .started = tools_started,
};

const struct ep_desk_ops *run_pmix_desk(void)
{
    return &ops;
}
