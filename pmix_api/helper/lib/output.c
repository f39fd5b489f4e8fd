/* Applies the directives of PMIx_Spawn about a job's output. */
#include "pmix_api/helper/lib/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_api/helper/lib/directive.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/flag.h"
#include "text/style.h"

enum {
    OUTPUT_DIR = 1,       /* files in a directory with the given name */
    OUTPUT_FILE = 2,      /* files whose names begin with the given name */
    OUTPUT_PATTERN = 4,   /* files with names made from the given pattern */
    OUTPUT_FILE_ONLY = 8, /* output is not shown */
    OUTPUT_MERGE = 16,    /* stderr goes to stdout */
    OUTPUT_RAW = 32,      /* output is not gathered to lines */
    OUTPUT_TAG = 64,
    OUTPUT_RANK = 128,
    OUTPUT_TIME = 256,
    OUTPUT_XML = 512,
    OUTPUT_LOCAL = 1024, /* output is shown on the launcher's console, too */
    OUTPUT_FORMATS = OUTPUT_TAG | OUTPUT_RANK | OUTPUT_TIME | OUTPUT_XML
};

static const struct {
    const char *key;
    uint32_t flag;
} directives[] = {
    {PMIX_IOF_OUTPUT_TO_DIRECTORY, OUTPUT_DIR},
    {PMIX_IOF_OUTPUT_TO_FILE, OUTPUT_FILE},
    {PMIX_IOF_FILE_PATTERN, OUTPUT_PATTERN},
    {PMIX_IOF_FILE_ONLY, OUTPUT_FILE_ONLY},
    {PMIX_IOF_MERGE_STDERR_STDOUT, OUTPUT_MERGE},
    {PMIX_IOF_OUTPUT_RAW, OUTPUT_RAW},
    {PMIX_IOF_LOCAL_OUTPUT, OUTPUT_LOCAL},
    {PMIX_IOF_TAG_OUTPUT, OUTPUT_TAG},
    {PMIX_IOF_RANK_OUTPUT, OUTPUT_RANK},
    {PMIX_IOF_TIMESTAMP_OUTPUT, OUTPUT_TIME},
    {PMIX_IOF_XML_OUTPUT, OUTPUT_XML},
    /* Names of such directives in earlier versions of PMIx: */
    {"pmix.tagout", OUTPUT_TAG},
    {"pmix.tsout", OUTPUT_TIME},
    {"pmix.outdir", OUTPUT_DIR},
    {"pmix.outfile", OUTPUT_FILE},
    {"pmix.nocopy", OUTPUT_FILE_ONLY},
    {"pmix.mergeerrout", OUTPUT_MERGE},
};

enum { DIRECTIVES = sizeof(directives) / sizeof(directives[0]) };

static uint32_t flag_of(const pmix_info_t *info)
{
    for (size_t i = 0; i < DIRECTIVES; i++) {
        if (PMIX_CHECK_KEY(info, directives[i].key))
            return directives[i].flag;
    }
    return 0;
}

const char *px_output_key(size_t index)
{
    return index < DIRECTIVES ? directives[index].key : NULL;
}

bool px_output_knows(const pmix_info_t *info)
{
    return flag_of(info) != 0;
}

/* Sets the name of the files. A directive of the job comes here again for each
 * program, with the same name. */
static enum px_lib_answer set_files(struct px_lib_start *start,
                                    const pmix_info_t *info, uint32_t flag)
{
    struct job_request *request = &start->request;
    const char *text = info->value.data.string;

    if (info->value.type != PMIX_STRING || text == NULL || text[0] == '\0')
        return PX_LIB_BAD_PARAM;
    if (request->name != NULL &&
        ((start->output & flag) == 0 || strcmp(request->name, text) != 0))
        return PX_LIB_BAD_PARAM;
    request->name = text;
    start->output |= flag;
    return PX_LIB_YES;
}

enum px_lib_answer px_output_apply(struct px_lib_start *start,
                                   struct job_wish *app,
                                   const pmix_info_t *info)
{
    uint32_t flag = flag_of(info);

    (void)app;
    if (flag == OUTPUT_DIR || flag == OUTPUT_FILE)
        return set_files(start, info, flag);
    if (!px_value_is_flag(info))
        return PX_LIB_BAD_PARAM;
    start->output &= ~flag;
    if (PMIX_INFO_TRUE(info))
        start->output |= flag;
    if (PMIX_INFO_TRUE(info) && PMIX_INFO_IS_REQUIRED(info))
        start->needed |= flag;
    return PX_LIB_YES;
}

/* Refuses directives that contradict each other, with a note that names them.
 */
static enum px_lib_answer check(const struct px_lib_start *start)
{
    const uint32_t output = start->output;

    if ((output & OUTPUT_FILE_ONLY) != 0 && start->request.name == NULL) {
        px_call_note("PMIx_Spawn was refused: %s without files",
                     PMIX_IOF_FILE_ONLY);
        return PX_LIB_BAD_PARAM;
    }
    if ((output & OUTPUT_FORMATS) != 0 && (output & OUTPUT_RAW) != 0) {
        px_call_note("PMIx_Spawn was refused: %s with a format of lines",
                     PMIX_IOF_OUTPUT_RAW);
        return PX_LIB_BAD_PARAM;
    }
    return PX_LIB_YES;
}

/* Returns which kinds of files are asked for. With OUTPUT_PATTERN the name of
 * PMIX_IOF_OUTPUT_TO_FILE is a pattern. */
static uint8_t files_of(uint32_t output)
{
    if ((output & OUTPUT_DIR) != 0)
        return JOB_REQUEST_DIR;
    if ((output & OUTPUT_FILE) == 0)
        return JOB_REQUEST_NO_FILES;
    return (output & OUTPUT_PATTERN) != 0 ? JOB_REQUEST_PATTERN
                                          : JOB_REQUEST_FILE;
}

/* Returns which label is asked for. A tag contains the rank, so it overrides a
 * rank. */
static uint8_t label_of(uint32_t output)
{
    if ((output & OUTPUT_TAG) != 0)
        return TEXT_LABEL_FULL;
    return (output & OUTPUT_RANK) != 0 ? TEXT_LABEL_RANK : TEXT_LABEL_NONE;
}

/* Fills the request. Output that goes only to files is not shown, and does not
 * go to the tool without a pull. All other output the tool's helper reads
 * always, so that the job never waits for the tool. */
static void fill(struct px_lib_start *start)
{
    struct job_request *request = &start->request;
    const uint32_t output = start->output;
    const bool is_files_only = (output & OUTPUT_FILE_ONLY) != 0;

    request->files = files_of(output);
    request->label = label_of(output);
    request->format =
        (output & OUTPUT_XML) != 0 ? TEXT_FORMAT_XML : TEXT_FORMAT_TEXT;
    request->has_time = (output & OUTPUT_TIME) != 0;
    request->merges_stderr = (output & OUTPUT_MERGE) != 0;
    request->is_raw = (output & OUTPUT_RAW) != 0;
    request->is_shown = !is_files_only && (output & OUTPUT_LOCAL) != 0;
    request->needs_shown =
        !is_files_only && (start->needed & OUTPUT_LOCAL) != 0;
    request->has_stddiag = (request->forwards & PX_LIB_STDDIAG) != 0;
    request->comes = is_files_only ? 0 : request->forwards;
    request->waits = request->comes != 0;
}

/* Makes a relative name of files absolute by the directory of the job: tool and
 * launcher may have other current directories. */
static enum px_lib_answer settle_path(struct px_lib_start *start)
{
    struct job_request *request = &start->request;
    const char *cwd = request->apps[0].program.cwd;
    size_t size;
    char *path;

    if (request->name == NULL || request->name[0] == '/' || cwd == NULL)
        return PX_LIB_YES;
    size = strlen(cwd) + strlen(request->name) + 2;
    path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s", cwd, request->name);
    request->name = px_start_keep(start, path);
    return request->name != NULL ? PX_LIB_YES : PX_LIB_NO_RESOURCE;
}

enum px_lib_answer px_output_settle(struct px_lib_start *start)
{
    enum px_lib_answer rc = check(start);

    if (rc != PX_LIB_YES)
        return rc;
    fill(start);
    return settle_path(start);
}
