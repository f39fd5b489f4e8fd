/* Removes the folders of PMIx servers that earlier sessions have left.
 *
 * A launcher and its helpers that were killed together could not remove their
 * own.
 */
#include "commands/run_folders.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "endpoints/sys/owner.h"
#include "endpoints/sys/thread.h"
#include "pmix_api/folder.h"

/* A process has only one of these structures, in static memory, because the
 * thread may outlive its session (see ep_thread_join). */
static struct {
    struct ep_owner own;
    char mark[EP_OWNER_BYTES];
    char top[PX_PATH_MAX];
    pthread_t thread;
    bool is_running;
} folders;

static bool is_gone(const char *mark)
{
    struct ep_owner whose;

    return ep_owner_read(mark, &whose) != NULL &&
           ep_owner_is_gone(&whose, &folders.own);
}

static void *sweep(void *arg)
{
    (void)arg;
    px_folder_sweep(folders.top, is_gone);
    return NULL;
}

const char *run_folders_open(void)
{
    if (ep_owner_self(&folders.own) != 0)
        return "";
    ep_owner_print(&folders.own, folders.mark);
    /* Reads the environment before the thread starts, as the main thread may
     * change the environment later. */
    if (snprintf(folders.top, sizeof(folders.top), "%s", px_folder_top()) >=
        (int)sizeof(folders.top))
        return "";
    folders.is_running = ep_thread_start(&folders.thread, sweep, NULL) == 0;
    return folders.mark;
}

void run_folders_close(void)
{
    if (folders.is_running)
        ep_thread_join(folders.thread, true);
    folders.is_running = false;
}
