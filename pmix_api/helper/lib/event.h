/* Events: what the tool is told, and what it tells others. */
#ifndef PMIX_API_HELPER_LIB_EVENT_H
#define PMIX_API_HELPER_LIB_EVENT_H

/* Starts hearing what the tool notifies, once the library is started. Returns 0
 * or OV_ENOMEM. */
int px_event_listen(void);

/* Drops the events of this job that are kept for the tool. No further ones may
 * follow. */
void px_event_forget(const char *nspace);

#endif
