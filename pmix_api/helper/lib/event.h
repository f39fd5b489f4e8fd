/* Events: what the tool is told, and what it tells others. */
#ifndef PMIX_API_HELPER_LIB_EVENT_H
#define PMIX_API_HELPER_LIB_EVENT_H

/* Once the library is started: hears what the tool notifies. Returns 0 or
 * OV_ENOMEM. */
int px_event_listen(void);

/* No event of this job is kept for the tool any more; of further ones there are
 * none. */
void px_event_forget(const char *nspace);

#endif
