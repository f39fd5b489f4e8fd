/* Choosing a launcher. */
#include "commands/attach/choose.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/refuse.h"
#include "endpoints/run/run.h"

enum { LOOK_MS = 50, TELL_MS = 1000, COMING_UP_MS = 20000 };

static struct server servers[SERVERS_MAX];

/* --- by process number */

static const struct server *find_pid(pid_t pid)
{
    const struct server_name by = {.pid = pid};

    return servers_list(&by, servers) > 0 ? &servers[0] : NULL;
}

static bool is_xylem(pid_t pid)
{
    char path[64], name[64] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    if (fgets(name, sizeof(name), file) == NULL)
        name[0] = '\0';
    fclose(file);
    name[strcspn(name, "\n")] = '\0';
    return strcmp(name, "xylem") == 0 || strcmp(name, "lt-xylem") == 0;
}

/* The launcher lets tools in some tenths of a second after its start. */
static const struct server *wait_for(pid_t pid)
{
    static const struct timespec look = {.tv_nsec = LOOK_MS * 1000000};
    const struct server *found = find_pid(pid);

    for (int ms = 0; found == NULL && ms < COMING_UP_MS && is_xylem(pid);
         ms += LOOK_MS) {
        if (ms == TELL_MS)
            fprintf(stderr, "xylem: waiting for process %d to let tools in\n",
                    (int)pid);
        nanosleep(&look, NULL);
        found = find_pid(pid);
    }
    return found;
}

static int choose_pid(pid_t pid, struct server *out)
{
    const struct server *found;
    uid_t uid;

    if (server_owner(pid, &uid) && uid != geteuid() && geteuid() != 0)
        return refuse_owner(pid, uid, "attach to it");
    found = wait_for(pid);
    if (found != NULL) {
        *out = *found;
        return 0;
    }
    if (!server_owner(pid, &uid))
        return refuse("there is no process %d: its job is over, or it never "
                      "was one (`xylem attach' by itself looks for the one "
                      "that runs)",
                      (int)pid);
    if (!is_xylem(pid))
        return refuse("process %d is no xylem run", (int)pid);
    return refuse("tools cannot connect to process %d: it was started with "
                  "--no-pmix, without libpmix, or with another TMPDIR than "
                  "this (`xylem run -v' says)",
                  (int)pid);
}

/* --- by name, by address */

/* Its jobs have a number behind that. */
static bool is_dvm(const char *nspace)
{
    return strncmp(nspace, EP_RUN_DVM_NAME, strlen(EP_RUN_DVM_NAME)) == 0 &&
           strchr(nspace, '.') == NULL;
}

static int choose_nspace(const char *nspace, struct server *out)
{
    const struct server_name by = {.nspace = nspace};
    unsigned count = servers_list(&by, servers);

    if (servers_differ(servers, count))
        return refuse("several users have a launcher that says %s is its job: "
                      "name its process, with --pid",
                      nspace);
    if (count > 0 && is_dvm(nspace))
        return refuse("%s is a dvm and no job: `xylem attach --pid %d' shows "
                      "the job that runs in it, or lists them",
                      nspace, (int)servers[0].pid);
    if (count > 0) {
        *out = servers[0];
        return 0;
    }
    return refuse("no job %s runs on this machine that you may attach to: it "
                  "is over, is somebody else's, or has another TMPDIR than "
                  "this",
                  nspace);
}

/* Also one that lies elsewhere; then its process is not known. */
static int choose_uri(const char *uri, struct server *out)
{
    const struct server_name by = {.uri = uri};

    if (strchr(uri, ';') == NULL || strlen(uri) >= SERVER_URI_MAX)
        return refuse("'%s' is no address of a launcher: `xylem run -v' "
                      "prints it, as NAME.0;tcp4://127.0.0.1:PORT",
                      uri);
    if (servers_list(&by, servers) > 0) {
        *out = servers[0];
        return 0;
    }
    *out = (struct server){.pid = 0};
    strcpy(out->uri, uri);
    return 0;
}

/* --- the one that runs */

static int choose_only(struct server *out)
{
    unsigned mine = servers_list(NULL, servers);

    if (mine == 0)
        return refuse("no xylem run of yours is running on this machine that "
                      "tools can connect to (--pid and --nspace name one)");
    *out = servers[0];
    if (mine == 1)
        return 0;
    refuse("%u of your xylem runs are running here: say which one, with "
           "--pid P",
           mine);
    for (unsigned i = 0; i < mine; i++)
        fprintf(stderr, "  --pid %d   (%s)\n", (int)servers[i].pid,
                servers[i].nspace[0]);
    return 1;
}

int choose_server(const struct attach_options *options, struct server *out)
{
    if (options->pid != 0)
        return choose_pid(options->pid, out);
    if (options->nspace != NULL)
        return choose_nspace(options->nspace, out);
    if (options->uri != NULL)
        return choose_uri(options->uri, out);
    return choose_only(out);
}
