/* Asks the launcher for the table of a job's processes (table.h), for one job
 * after the other.
 *
 * All in the loop's thread. Memory: the table of the job that is being
 * described.
 */
#ifndef PMIX_API_HELPER_DESCRIBER_H
#define PMIX_API_HELPER_DESCRIBER_H

#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"

struct job_door;
struct px_describer;
struct px_jobs;
struct px_jobs_entry;
struct ep_table;

/* A user of the describer, which can ask one question at a time. It owns this
 * struct, which must live until on_done. */
struct px_describer_user {
    /* Called from the event loop; may ask again. With PX_LIB_YES the user
     * becomes the owner of the table. Else the table is NULL. PX_LIB_NOT_FOUND:
     * the job no longer exists. PX_LIB_NO_RESOURCE: memory is out, or the
     * launcher's answer is not valid. */
    void (*on_done)(void *arg, enum px_lib_answer answer,
                    struct ep_table *table);
    void *arg;
    struct px_describer_user *next; /* used by the describer, like the members
                                       below */
    uint32_t base, size;
};

/* Returns 0 or OV_ENOMEM. */
int px_describer_open(const struct px_jobs *jobs, struct px_describer **out);
/* NULL is fine. No callback follows. */
void px_describer_close(struct px_describer *describer);

/* Asks for the table of the job; on_done follows. O(users that wait). */
void px_describer_ask(struct px_describer *describer,
                      struct px_describer_user *user,
                      const struct px_jobs_entry *job);

/* Handles a message of the session; messages that are no part of an answer are
 * ignored. */
void px_describer_on_word(struct px_describer *describer,
                          const struct job_door *msg);

#endif
