/* The directives of PMIx_Spawn that say on which nodes processes are. */
#ifndef PMIX_API_HELPER_MAPPING_H
#define PMIX_API_HELPER_MAPPING_H

#include "pmix_api/helper/directive.h"

/* Each takes the directive that it is named after: PMIX_SUCCESS; NOT_SUPPORTED
 * for a value that cannot be served; BAD_PARAM, NOMEM. */
pmix_status_t px_mapping_ppr(struct px_plan *plan, struct job_wish *app,
                             const pmix_info_t *info);
pmix_status_t px_mapping_mapby(struct px_plan *plan, struct job_wish *app,
                               const pmix_info_t *info);
pmix_status_t px_mapping_rankby(struct px_plan *plan, struct job_wish *app,
                                const pmix_info_t *info);
/* PMIX_HOST, PMIX_HOSTFILE, PMIX_ADD_HOST and PMIX_ADD_HOSTFILE. */
pmix_status_t px_mapping_hosts(struct px_plan *plan, struct job_wish *app,
                               const pmix_info_t *info);

#endif
