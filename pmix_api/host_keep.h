/* Copies of what is redirected: each pull that redirects has a journal
 * (journal.h), for the case that its tool or the helper dies
 * (host_salvage.h). */
#ifndef PMIX_API_HOST_KEEP_H
#define PMIX_API_HOST_KEEP_H

#include <stdbool.h>
#include <stdint.h>

struct px_host;
struct px_host_pull;
struct px_journal_entry;
struct px_output;

/* Would something of it have to be given back? */
bool px_keep_is_due(const struct px_host *host,
                    const struct px_host_pull *pull);

/* A pull begins: from here on it has a journal, if that is due and memory is
 * there. */
void px_keep_begin(struct px_host *host, struct px_host_pull *pull);

/* What is pushed (host_queue.h) from now on is not redirected to it. */
void px_keep_end(const struct px_host *host, struct px_host_pull *pull);

/* Redirected output, the nth that was pushed or a part of it, goes to the
 * helper, or would: it is kept for each pull that gets it and has a journal.
 * O(pulls). */
void px_keep_output(struct px_host *host, const struct px_output *output,
                    uint64_t nth);
/* Is there one that keeps it? O(pulls). */
bool px_keep_has(const struct px_host *host, uint32_t rank, uint8_t channel,
                 uint64_t nth);

/* What tools have read by now is forgotten. */
void px_keep_look(struct px_host *host);

/* This pull gets all that comes from here on. */
void px_keep_live(struct px_host *host, uint32_t pull);
/* The turn of one of its channels was sent: with the last one it does. */
void px_keep_turned(struct px_host *host, uint32_t pull);
/* Has another pull got this, redirected to it, too? O(pulls). */
bool px_keep_is_elsewhere(const struct px_host *host,
                          const struct px_journal_entry *entry);

#endif
