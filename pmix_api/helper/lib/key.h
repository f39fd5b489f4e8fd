/* Keys of PMIx for queries and events, for the part of the helper that does not
 * include the headers of libpmix. The texts are the standard's. */
#ifndef PMIX_API_HELPER_LIB_KEY_H
#define PMIX_API_HELPER_LIB_KEY_H

/* Keys of queries. */
#define PX_KEY_NAMESPACES     "pmix.qry.ns"
#define PX_KEY_NAMESPACE_INFO "pmix.qry.nsinfo"
#define PX_KEY_JOB_STATUS     "pmix.qry.jst"
#define PX_KEY_PROC_TABLE     "pmix.qry.ptable"
#define PX_KEY_LOCAL_TABLE    "pmix.qry.lptable"
#define PX_KEY_SPAWN_SUPPORT  "pmix.qry.spawn"
#define PX_KEY_DEBUG_SUPPORT  "pmix.qry.debug"
#define PX_KEY_SUPPORTED_KEYS "pmix.qry.keys"
#define PX_KEY_LOCAL_PEERS    "pmix.lpeers"
#define PX_KEY_LOCAL_PROCS    "pmix.lprocs"
#define PX_KEY_LOCAL_SIZE     "pmix.local.size"
#define PX_KEY_JOB_SIZE       "pmix.job.size"
#define PX_KEY_EXIT_CODE      "pmix.exit.code" /* used in events, too */

/* Keys of qualifiers, and of infos inside answers. */
#define PX_KEY_NSPACE        "pmix.nspace" /* used in events, too */
#define PX_KEY_PROCID        "pmix.procid" /* used in events, too */
#define PX_KEY_RANK          "pmix.rank"
#define PX_KEY_HOSTNAME      "pmix.hname"
#define PX_KEY_NODEID        "pmix.nodeid"
#define PX_KEY_REFRESH_CACHE "pmix.qry.rfsh"
#define PX_KEY_INFO_ARRAY    "pmix.job.arr" /* the infos of one namespace */
#define PX_KEY_CMD_LINE      "pmix.cmd.line"

/* Keys of events. */
#define PX_KEY_AFFECTED     "pmix.evproc"
#define PX_KEY_TIMESTAMP    "pmix.evtstamp"
#define PX_KEY_TERM_STATUS  "pmix.job.term.status"
#define PX_KEY_DO_NOT_CACHE "pmix.evnocache"

#endif
