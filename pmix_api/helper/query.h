/* Answers queries of the tool, in their order. For each query the helper asks
 * the launcher again for the tables that it needs, once for each job.
 *
 * All in the loop's thread. Memory: 32 bytes for each query that waits. The
 * query that is being answered needs the tables of all jobs that it is about
 * (table.h; for PX_KEY_NAMESPACE_INFO one place of each table), and 60 to 260
 * bytes for each process in the answer, until the answer is passed to
 * libpmix. */
#ifndef PMIX_API_HELPER_QUERY_H
#define PMIX_API_HELPER_QUERY_H

#include "pmix_api/helper/lib/lib.h"

struct px_describer;
struct px_jobs;
struct px_queries;

/* The most queries that wait; further ones are answered with
 * PX_LIB_NO_RESOURCE. */
enum { PX_QUERIES_MAX = 1024 };

/* Both arguments are borrowed until px_queries_close(); close the describer
 * before that. Returns 0 or OV_ENOMEM. */
int px_queries_open(const struct px_jobs *jobs, struct px_describer *describer,
                    struct px_queries **out);
/* Closes the module. Queries that still wait get no answer. NULL is fine. */
void px_queries_close(struct px_queries *queries);

/* Answers a query; docs/pmix-attributes.md, "Queries", describes the answers.
 * O(keys * (processes + places)). */
void px_queries_on_query(struct px_queries *queries,
                         const struct px_lib_query *query);

/* The keys and qualifiers that are known, NULL-terminated; never freed. */
const char *const *px_queries_keys(void);

#endif
