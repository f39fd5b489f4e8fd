/* Events: what the tool is told, and what it tells others. */
#ifndef PMIX_API_HELPER_LIB_EVENT_H
#define PMIX_API_HELPER_LIB_EVENT_H

/* Once the library is started: hears what the tool notifies. Returns 0 or
 * OV_ENOMEM. */
int px_event_listen(void);

#endif
