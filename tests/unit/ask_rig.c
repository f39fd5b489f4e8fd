/* Queries and their answers as texts. */
#include "config.h"

#include "tests/unit/ask_rig.h"

#include "tests/unit/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_api/helper/lib/key.h"

enum { ASKS = 4, ITEMS = 16, TEXT_BYTES = 1 << 16 };

/* --- making queries */

static struct made {
    char text[512];
    struct px_lib_query query;
    struct px_lib_ask asks[ASKS];
    const char *keys[ASKS][ITEMS];
    struct px_lib_info qualifiers[ASKS][ITEMS];
    struct px_lib_name names[ASKS][ITEMS];
} all[ASK_RIG_QUERIES];

static void set_value(struct px_lib_info *info, char *value,
                      struct px_lib_name *name)
{
    struct px_lib_value *out = &info->value;

    out->as.text = value;
    if (strcmp(value, "#") == 0) {
        out->type = PX_LIB_OTHER;
    } else if (strcmp(info->key, PX_KEY_RANK) == 0) {
        out->type = PX_LIB_RANK;
        out->as.rank = (uint32_t)strtol(value, NULL, 10);
    } else if (strcmp(info->key, PX_KEY_NODEID) == 0) {
        out->type = PX_LIB_NUMBER;
        out->width = value[0] == 's' ? PX_LIB_SIZE : PX_LIB_U32;
        out->as.number = (uint64_t)strtol(value, NULL, 10);
    } else if (strcmp(info->key, PX_KEY_PROCID) == 0) {
        out->type = PX_LIB_NAME;
        name->rank = (uint32_t)strtol(strchr(value, '/') + 1, NULL, 10);
        *strchr(value, '/') = '\0';
        strcpy(name->nspace, value);
        out->as.names = name;
    } else {
        out->type = PX_LIB_TEXT;
    }
}

static void add_word(struct made *made, struct px_lib_ask *ask, char *word)
{
    const size_t nth = made->query.count - 1;
    char *value = strchr(word, '=');
    struct px_lib_info *info;

    if (value == NULL) {
        made->keys[nth][ask->keys_count++] = word;
        return;
    }
    *value++ = '\0';
    info = &made->qualifiers[nth][ask->qualifiers_count];
    info->is_required = word[0] == '!';
    info->key = word + info->is_required;
    set_value(info, value, &made->names[nth][ask->qualifiers_count++]);
}

const struct px_lib_query *ask_rig_query(const char *text)
{
    static unsigned count;
    struct made *made = &all[count++ % ASK_RIG_QUERIES];

    memset(made, 0, sizeof(*made));
    strcpy(made->text, text);
    made->query = (struct px_lib_query){made->asks, 1, made};
    for (unsigned i = 0; i < ASKS; i++) {
        made->asks[i].keys = made->keys[i];
        made->asks[i].qualifiers = made->qualifiers[i];
    }
    for (char *word = strtok(made->text, " "); word != NULL;
         word = strtok(NULL, " ")) {
        if (strcmp(word, "|") == 0)
            made->query.count++;
        else
            add_word(made, &made->asks[made->query.count - 1], word);
    }
    return &made->query;
}

/* --- recording answers */

static char answers[TEXT_BYTES];
static size_t len;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void put(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    len +=
        (size_t)vsnprintf(answers + len, sizeof(answers) - len, format, args);
    va_end(args);
    assert_true(len < sizeof(answers));
}

static void put_table(const struct px_lib_value *value)
{
    static const char *const states[] = {"starting", "running", "ended",
                                         "killed"};

    for (size_t i = 0; i < value->count; i++) {
        const struct px_lib_process *row = &value->as.table[i];

        put("(%s/%u %s %s %d %s %d)", row->nspace, row->rank, row->host,
            row->program, row->pid, states[row->state], row->exit_code);
    }
}

static void put_infos(const struct px_lib_info *infos, size_t count);

static void put_value(const struct px_lib_value *value)
{
    static const char *const widths[] = {"u32", "u16", "u64", "size", "int"};

    if (value->type == PX_LIB_TEXT)
        put("%s", value->as.text);
    else if (value->type == PX_LIB_NUMBER)
        put("%u:%s", (unsigned)value->as.number, widths[value->width]);
    else if (value->type == PX_LIB_STATUS)
        put("%s", value->as.status == PX_LIB_JOB_END     ? "END"
                  : value->as.status == PX_LIB_JOB_START ? "START"
                                                         : "?");
    else if (value->type == PX_LIB_TABLE)
        put_table(value);
    else if (value->type == PX_LIB_INFOS)
        put_infos(value->as.infos, value->count);
    else if (value->type == PX_LIB_NAMES)
        for (size_t i = 0; i < value->count; i++)
            put("(%s/%u)", value->as.names[i].nspace, value->as.names[i].rank);
    else
        put("?");
}

static void put_infos(const struct px_lib_info *infos, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put("{%s=", infos[i].key);
        put_value(&infos[i].value);
        put("}");
    }
}

const char *px_lib_spawn_keys(void)
{
    return "spawn,keys";
}

void px_lib_answer_query(void *call, enum px_lib_answer answer,
                         const struct px_lib_info *infos, size_t count)
{
    struct made *made = call;

    assert_true(made->query.call == call); /* each query is answered once */
    made->query.call = NULL;
    put("%s", answer == PX_LIB_YES       ? "YES "
              : answer == PX_LIB_PARTIAL ? "PARTIAL "
                                         : "? ");
    put_infos(infos, count);
    put("\n");
}

const char *ask_rig_answers(void)
{
    static char given[TEXT_BYTES];

    memcpy(given, answers, len + 1);
    len = 0;
    answers[0] = '\0';
    return given;
}
