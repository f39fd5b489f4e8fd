/* PMIx events, from the tool and to the tool. */
#ifndef PMIX_API_HELPER_LIB_EVENT_H
#define PMIX_API_HELPER_LIB_EVENT_H

/* Begins to receive events that the tool notifies; to be called after libpmix
 * is started. Returns 0 or OV_ENOMEM. */
int px_event_listen(void);

/* Drops the events of this job that libpmix keeps for the tool. No further
 * events of the job may follow. */
void px_event_forget(const char *nspace);

#endif
