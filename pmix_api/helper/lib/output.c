/* The directives of PMIx_Spawn about what becomes of a job's output. */
#include "pmix_api/helper/lib/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_api/helper/lib/directive.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/flag.h"

static const struct {
    const char *key;
    uint32_t flag; /* enum px_output_flag */
} directives[] = {
    {PMIX_IOF_OUTPUT_TO_DIRECTORY, PX_OUTPUT_DIR},
    {PMIX_IOF_OUTPUT_TO_FILE, PX_OUTPUT_FILE},
    {PMIX_IOF_FILE_PATTERN, PX_OUTPUT_PATTERN},
    {PMIX_IOF_FILE_ONLY, PX_OUTPUT_FILE_ONLY},
    {PMIX_IOF_MERGE_STDERR_STDOUT, PX_OUTPUT_MERGE},
    {PMIX_IOF_OUTPUT_RAW, PX_OUTPUT_RAW},
    {PMIX_IOF_LOCAL_OUTPUT, PX_OUTPUT_LOCAL},
    {PMIX_IOF_TAG_OUTPUT, PX_OUTPUT_TAG},
    {PMIX_IOF_RANK_OUTPUT, PX_OUTPUT_RANK},
    {PMIX_IOF_TIMESTAMP_OUTPUT, PX_OUTPUT_TIME},
    {PMIX_IOF_XML_OUTPUT, PX_OUTPUT_XML},
    /* The same in versions before: */
    {"pmix.tagout", PX_OUTPUT_TAG},
    {"pmix.tsout", PX_OUTPUT_TIME},
    {"pmix.outdir", PX_OUTPUT_DIR},
    {"pmix.outfile", PX_OUTPUT_FILE},
    {"pmix.nocopy", PX_OUTPUT_FILE_ONLY},
    {"pmix.mergeerrout", PX_OUTPUT_MERGE},
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

/* That of the job is applied with each program. */
static enum px_lib_answer set_files(struct px_spawn *spawn,
                                    const pmix_info_t *info, uint32_t flag)
{
    const char *text = info->value.data.string;

    if (info->value.type != PMIX_STRING || text == NULL || text[0] == '\0')
        return PX_LIB_BAD_PARAM;
    if (spawn->files != NULL &&
        ((spawn->output & flag) == 0 || strcmp(spawn->files, text) != 0))
        return PX_LIB_BAD_PARAM;
    spawn->files = text;
    spawn->output |= flag;
    return PX_LIB_YES;
}

enum px_lib_answer px_output_apply(struct px_lib_start *start,
                                   const pmix_info_t *info)
{
    uint32_t flag = flag_of(info);

    if (flag == PX_OUTPUT_DIR || flag == PX_OUTPUT_FILE)
        return set_files(&start->spawn, info, flag);
    if (!px_value_is_flag(info))
        return PX_LIB_BAD_PARAM;
    start->spawn.output &= ~flag;
    if (PMIX_INFO_TRUE(info))
        start->spawn.output |= flag;
    if (PMIX_INFO_TRUE(info) && PMIX_INFO_IS_REQUIRED(info))
        start->needed |= flag;
    return PX_LIB_YES;
}

static enum px_lib_answer settle_formats(struct px_lib_start *start)
{
    const struct px_spawn *spawn = &start->spawn;

    if ((spawn->output & PX_OUTPUT_FORMATS) == 0 ||
        (spawn->output & PX_OUTPUT_RAW) == 0)
        return PX_LIB_YES;
    px_call_note("PMIx_Spawn is refused: %s with a format of lines",
                 PMIX_IOF_OUTPUT_RAW);
    return PX_LIB_BAD_PARAM;
}

/* Files only are no console. */
static void settle_show(struct px_lib_start *start)
{
    struct px_spawn *spawn = &start->spawn;

    if ((spawn->output & PX_OUTPUT_FILE_ONLY) != 0)
        spawn->output &= ~(uint32_t)PX_OUTPUT_LOCAL;
    else if ((start->needed & PX_OUTPUT_LOCAL) != 0)
        spawn->output |= PX_OUTPUT_LOCAL_NEEDED;
}

/* One bit says which kind of name it is. */
static void settle_kind(struct px_spawn *spawn)
{
    const bool is_pattern = (spawn->output & PX_OUTPUT_PATTERN) != 0;

    if ((spawn->output & PX_OUTPUT_FILE) != 0 && is_pattern)
        spawn->output &= ~(uint32_t)PX_OUTPUT_FILE;
    else
        spawn->output &= ~(uint32_t)PX_OUTPUT_PATTERN;
}

/* The tool may be anywhere, and the launcher too: the job is where it was told
 * to be. */
static enum px_lib_answer settle_path(struct px_lib_start *start)
{
    struct px_spawn *spawn = &start->spawn;
    const char *cwd = spawn->apps[0].program.cwd;
    size_t size;
    char *path;

    if (spawn->files == NULL || spawn->files[0] == '/' || cwd == NULL)
        return PX_LIB_YES;
    size = strlen(cwd) + strlen(spawn->files) + 2;
    path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s", cwd, spawn->files);
    spawn->files = px_start_keep(start, path);
    return spawn->files != NULL ? PX_LIB_YES : PX_LIB_NO_RESOURCE;
}

enum px_lib_answer px_output_settle(struct px_lib_start *start)
{
    const struct px_spawn *spawn = &start->spawn;
    enum px_lib_answer rc;

    if ((spawn->output & PX_OUTPUT_FILE_ONLY) != 0 && spawn->files == NULL) {
        px_call_note("PMIx_Spawn is refused: %s without files",
                     PMIX_IOF_FILE_ONLY);
        return PX_LIB_BAD_PARAM;
    }
    settle_kind(&start->spawn);
    settle_show(start);
    rc = settle_formats(start);
    return rc == PX_LIB_YES ? settle_path(start) : rc;
}
