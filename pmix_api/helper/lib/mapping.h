/* The directives of PMIx_Spawn that say on which nodes processes are. */
#ifndef PMIX_API_HELPER_LIB_MAPPING_H
#define PMIX_API_HELPER_LIB_MAPPING_H

#include "pmix_api/helper/lib/directive.h"

/* Each function applies the directive that it is named after. Returns YES;
 * NOT_SUPPORTED for a value that cannot be served; BAD_PARAM; or
 * NO_RESOURCE. */
enum px_lib_answer px_mapping_ppr(struct px_lib_start *start,
                                  struct job_wish *app,
                                  const pmix_info_t *info);
enum px_lib_answer px_mapping_mapby(struct px_lib_start *start,
                                    struct job_wish *app,
                                    const pmix_info_t *info);
enum px_lib_answer px_mapping_rankby(struct px_lib_start *start,
                                     struct job_wish *app,
                                     const pmix_info_t *info);
enum px_lib_answer px_mapping_bindto(struct px_lib_start *start,
                                     struct job_wish *app,
                                     const pmix_info_t *info);
/* For PMIX_HOST, PMIX_HOSTFILE, PMIX_ADD_HOST and PMIX_ADD_HOSTFILE. */
enum px_lib_answer px_mapping_hosts(struct px_lib_start *start,
                                    struct job_wish *app,
                                    const pmix_info_t *info);

#endif
