/* Infos of PMIx tools, with any known key and values of any type: the parts
 * that are accepted can be sent and arrive unchanged. Each info is four bytes
 * (its key, its type, flags, and the length of its text), followed by the
 * text. */
#include "tests/fuzz/fuzz.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "job/wish.h"
#include "overlay/base/wire.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/directive.h"
#include "pmix_api/helper/lib/output.h"
#include "pmix_api/helper/lib/wish.h"

enum { INFOS_MAX = 16, REQUIRED = 1, OF_APP = 2, HAS_NO_TEXT = 4 };

struct tool {
    pmix_info_t infos[INFOS_MAX];
    char *texts[INFOS_MAX]; /* owned */
    uint8_t flags[INFOS_MAX];
    unsigned count;
};

/* The notes for the launcher do not matter here. */
void px_call_note(const char *format, ...)
{
    (void)format;
}

static const char *key_of(unsigned number)
{
    const char *key;
    unsigned known = 0, wishes = 0;

    while (px_start_key(known) != NULL)
        known++;
    while (px_wish_key(wishes) != NULL)
        wishes++;
    number %= known + wishes + 1;
    key = number < known ? px_start_key(number) : px_wish_key(number - known);
    return key == NULL ? "pmix.nobody.knows.it" : key;
}

/* Reads the first bytes of a text as a number. */
static uint64_t number_of(const char *text)
{
    uint64_t number = 0;

    memcpy(&number, text, strnlen(text, sizeof(number)));
    return number;
}

static void set_value(pmix_value_t *value, unsigned type, char *text,
                      bool has_text)
{
    static const pmix_data_type_t types[] = {
        PMIX_STRING, PMIX_BOOL, PMIX_UNDEF,     PMIX_INT,  PMIX_UINT32,
        PMIX_UINT64, PMIX_SIZE, PMIX_PROC_RANK, PMIX_ENVAR};
    uint64_t number = number_of(text);
    char *equal = strchr(text, '=');

    value->type = types[type % (sizeof(types) / sizeof(types[0]))];
    if (value->type == PMIX_ENVAR) {
        if (equal != NULL)
            *equal++ = '\0';
        value->data.envar = (pmix_envar_t){
            .envar = has_text ? text : NULL, .value = equal, .separator = ':'};
    } else if (value->type == PMIX_STRING) {
        value->data.string = has_text ? text : NULL;
    } else if (value->type == PMIX_BOOL) {
        value->data.flag = number % 2 != 0;
    } else if (value->type == PMIX_UINT64) {
        value->data.uint64 = number;
    } else if (value->type == PMIX_SIZE) {
        value->data.size = (size_t)number;
    } else if (value->type != PMIX_UNDEF) {
        value->data.uint32 = (uint32_t)number;
    }
}

static bool read_info(struct ov_rd *rd, struct tool *tool)
{
    pmix_info_t *info = &tool->infos[tool->count];
    uint8_t key = ov_rd_u8(rd), type = ov_rd_u8(rd), flags = ov_rd_u8(rd);
    size_t len_bytes = ov_rd_u8(rd);
    char *text;

    if (rd->bad)
        return false;
    if (len_bytes > ov_rd_left(rd))
        len_bytes = ov_rd_left(rd);
    text = calloc(1, len_bytes + 1);
    FUZZ_CHECK(text != NULL);
    memcpy(text, ov_rd_bytes(rd, len_bytes), len_bytes);
    memset(info, 0, sizeof(*info));
    strncpy(info->key, key_of(key), PMIX_MAX_KEYLEN);
    if ((flags & REQUIRED) != 0)
        info->flags |= PMIX_INFO_REQD;
    set_value(&info->value, type, text, (flags & HAS_NO_TEXT) == 0);
    tool->flags[tool->count] = flags;
    tool->texts[tool->count++] = text;
    return true;
}

static bool is_answer(enum px_lib_answer rc)
{
    return rc == PX_LIB_YES || rc == PX_LIB_BAD_PARAM ||
           rc == PX_LIB_NOT_SUPPORTED;
}

static void check_wish(const struct tool *tool)
{
    struct px_lib_wish wish = {.copies = false};

    px_wish_read(tool->infos, tool->count, &wish);
    FUZZ_CHECK(wish.has_cache || wish.cache_bytes == 0);
}

static void check_app(const struct job_wish *app)
{
    const size_t len_bytes = job_wish_bytes(app);
    uint8_t *mem = malloc(len_bytes);
    struct ov_wr wr = ov_wr_init(mem, len_bytes);
    struct ov_rd rd = ov_rd_init(mem, len_bytes);
    struct job_wish came;

    FUZZ_CHECK(mem != NULL);
    job_wish_encode(&wr, app);
    FUZZ_CHECK(!wr.bad && job_wish_decode(&rd, &came) == 0);
    FUZZ_CHECK(job_wish_bytes(&came) == len_bytes);
    job_wish_fini(&came);
    free(mem);
}

/* Makes a request for one program whose command line is one word. */
static void make_start(struct px_lib_start *start)
{
    struct job_wish *app = calloc(1, sizeof(*app));
    const char **argv;

    FUZZ_CHECK(app != NULL);
    argv = calloc(2, sizeof(*argv));
    FUZZ_CHECK(argv != NULL);
    argv[0] = "a";
    app->program.argv = argv;
    start->request.apps = app;
    start->request.apps_count = 1;
}

/* Applies the infos like PMIx_Spawn does: for each program those of the job,
 * then those of the program. */
static enum px_lib_answer apply(const struct tool *tool,
                                struct px_lib_start *start)
{
    enum px_lib_answer rc = PX_LIB_YES;

    for (unsigned i = 0; rc == PX_LIB_YES && i < tool->count; i++) {
        rc = px_start_apply(start, &start->request.apps[0],
                            (tool->flags[i] & OF_APP) == 0, &tool->infos[i], 1);
        FUZZ_CHECK(is_answer(rc));
    }
    if (rc == PX_LIB_YES) {
        rc = px_output_settle(start);
        FUZZ_CHECK(is_answer(rc));
    }
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct ov_rd rd = ov_rd_init(mem, len_bytes);
    static struct tool tool;
    struct px_lib_start start = {.made = NULL};

    tool.count = 0;
    while (tool.count < INFOS_MAX && read_info(&rd, &tool))
        ;
    check_wish(&tool);
    make_start(&start);
    if (apply(&tool, &start) == PX_LIB_YES)
        check_app(&start.request.apps[0]);
    px_start_fini(&start);
    for (unsigned i = 0; i < tool.count; i++)
        free(tool.texts[i]);
    return 0;
}
