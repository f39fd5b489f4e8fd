/* How one_tool answers a tool's requests, and which events it sends to the
 * tool. */
#include "tests/pmix/one_ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_api/helper/lib/key.h"

enum { KEPT_MAX = 16, KEYS_MAX = 64, RANKS_MAX = 64, BYTES_MAX = 1 << 16 };

static struct {
    uint32_t ranks;
    const char *dir;
    unsigned spawned, events;
    struct kept {
        void *call;
        bool is_spawn;
    } kept[KEPT_MAX];
    unsigned kept_count;
} one;

const char *const one_query_keys[] = {PX_KEY_NAMESPACES, PX_KEY_PROC_TABLE,
                                      PX_KEY_NSPACE, NULL};

void one_ask_open(uint32_t ranks, const char *dir)
{
    one.ranks = ranks;
    one.dir = dir;
}

static void keep(void *call, bool is_spawn)
{
    one.kept[one.kept_count++] = (struct kept){call, is_spawn};
    printf("kept\n");
    fflush(stdout);
}

void one_answer_all(void)
{
    for (unsigned i = 0; i < one.kept_count; i++) {
        if (one.kept[i].is_spawn)
            px_lib_answer_spawn(one.kept[i].call, ONE_JOB ".kept");
        else
            px_lib_answer_query(one.kept[i].call, PX_LIB_YES, NULL, 0);
    }
    one.kept_count = 0;
}

/* --- queries */

static void print_value(const struct px_lib_value *value)
{
    if (value->type == PX_LIB_FLAG)
        printf("flag %d", value->as.flag);
    else if (value->type == PX_LIB_NUMBER)
        printf("number %d %llu", value->width,
               (unsigned long long)value->as.number);
    else if (value->type == PX_LIB_TEXT)
        printf("text %s", value->as.text);
    else if (value->type == PX_LIB_NAME)
        printf("name %s %u", value->as.names[0].nspace,
               value->as.names[0].rank);
    else if (value->type == PX_LIB_RANK)
        printf("rank %u", value->as.rank);
    else
        printf("other %d", value->type);
}

static struct px_lib_value words_of(const char *words)
{
    return (struct px_lib_value){.type = PX_LIB_TEXT, .as.text = words};
}

static struct px_lib_value number_of(enum px_lib_width width, uint64_t value)
{
    return (struct px_lib_value){
        .type = PX_LIB_NUMBER, .width = width, .as.number = value};
}

static struct px_lib_value table(void)
{
    static struct px_lib_process rows[RANKS_MAX];

    for (uint32_t i = 0; i < one.ranks; i++)
        rows[i] = (struct px_lib_process){
            .nspace = ONE_JOB,
            .rank = i,
            .host = "here",
            .program = "/bin/one",
            .pid = (int32_t)(1000 + i),
            .state = (enum px_lib_state)(i % PX_LIB_STATES),
        };
    return (struct px_lib_value){
        .type = PX_LIB_TABLE, .count = one.ranks, .as.table = rows};
}

static struct px_lib_value names(enum px_lib_type type)
{
    static struct px_lib_name rows[RANKS_MAX];

    for (uint32_t i = 0; i < one.ranks; i++)
        rows[i] = (struct px_lib_name){.nspace = ONE_JOB, .rank = i};
    return (struct px_lib_value){
        .type = type, .count = one.ranks, .as.names = rows};
}

/* Makes a list that contains a list. */
static struct px_lib_value spaces(void)
{
    static struct px_lib_info inner[2], outer;

    inner[0] = (struct px_lib_info){PX_KEY_NSPACE, false, words_of(ONE_JOB)};
    inner[1] =
        (struct px_lib_info){PX_KEY_JOB_SIZE, false, number_of(PX_LIB_U32, 2)};
    outer = (struct px_lib_info){
        PX_KEY_INFO_ARRAY,
        false,
        {.type = PX_LIB_INFOS, .count = 2, .as.infos = inner}};
    return (struct px_lib_value){
        .type = PX_LIB_INFOS, .count = 1, .as.infos = &outer};
}

static bool is_key(const char *key, const char *other)
{
    return strcmp(key, other) == 0;
}

/* Makes a value of the type that the key names. False: there is no such key. */
static bool value_of(const char *key, struct px_lib_value *out)
{
    static const struct px_lib_value status = {.type = PX_LIB_STATUS,
                                               .as.status = PX_LIB_JOB_START},
                                     time_s = {.type = PX_LIB_TIME,
                                               .as.time_s = 12345},
                                     rank = {.type = PX_LIB_RANK, .as.rank = 3},
                                     flag = {.type = PX_LIB_FLAG,
                                             .as.flag = true};

    if (is_key(key, PX_KEY_NAMESPACES))
        *out = words_of(ONE_JOB);
    else if (is_key(key, PX_KEY_SPAWN_SUPPORT))
        *out = words_of(px_lib_spawn_keys());
    else if (is_key(key, PX_KEY_NAMESPACE_INFO))
        *out = spaces();
    else if (is_key(key, PX_KEY_JOB_STATUS))
        *out = status;
    else if (is_key(key, PX_KEY_PROC_TABLE))
        *out = table();
    else if (is_key(key, PX_KEY_LOCAL_PROCS))
        *out = names(PX_LIB_NAMES);
    else if (is_key(key, PX_KEY_JOB_SIZE))
        *out = number_of(PX_LIB_U32, 4000000000);
    else if (is_key(key, PX_KEY_EXIT_CODE))
        *out = number_of(PX_LIB_INT, 7);
    else if (is_key(key, "xylem.time"))
        *out = time_s;
    else if (is_key(key, "xylem.rank"))
        *out = rank;
    else if (is_key(key, "xylem.flag"))
        *out = flag;
    else if (is_key(key, "xylem.name"))
        *out = names(PX_LIB_NAME);
    else if (strncmp(key, "xylem.width", 11) == 0)
        *out = number_of((enum px_lib_width)atoi(key + 11), 5);
    else
        return false;
    return true;
}

static void print_ask(const struct px_lib_ask *ask)
{
    printf("query");
    for (size_t i = 0; i < ask->keys_count; i++)
        printf(" %s", ask->keys[i]);
    printf("\n");
    for (size_t i = 0; i < ask->qualifiers_count; i++) {
        printf("qualifier %s ", ask->qualifiers[i].key);
        print_value(&ask->qualifiers[i].value);
        printf("\n");
    }
    fflush(stdout);
}

void one_on_query(void *arg, const struct px_lib_query *query)
{
    struct px_lib_info infos[KEYS_MAX] = {{.key = NULL}};
    size_t count = 0, wanted = 0;

    (void)arg;
    for (size_t i = 0; i < query->count; i++) {
        const struct px_lib_ask *ask = &query->asks[i];

        print_ask(ask);
        for (size_t k = 0; k < ask->keys_count; k++, wanted++) {
            infos[count].key = ask->keys[k];
            if (is_key(ask->keys[k], "xylem.keep")) {
                keep(query->call, false);
                return;
            }
            count += value_of(ask->keys[k], &infos[count].value);
        }
    }
    if (count == 0)
        px_lib_answer(query->call, PX_LIB_NOT_SUPPORTED);
    else
        px_lib_answer_query(query->call,
                            count == wanted ? PX_LIB_YES : PX_LIB_PARTIAL,
                            infos, count);
}

/* --- spawns */

static const char *or_none(const char *words)
{
    return words != NULL ? words : "-";
}

static void print_app(const struct job_wish *app)
{
    printf("app %u %u %d %d %s %d hosts %s %s %s %s\n", app->procs, app->ppn,
           app->per, app->map, or_none(app->program.cwd),
           app->program.cwd_is_optional, or_none(app->hosts),
           or_none(app->hostfile), or_none(app->add_hosts),
           or_none(app->add_hostfile));
    printf("words");
    for (const char *const *at = app->program.argv; *at != NULL; at++)
        printf(" %s", *at);
    printf("\n");
    for (uint32_t i = 0; i < app->env_count; i++)
        printf("env %d %s\n", app->env[i].what, app->env[i].text);
}

static void print_if(bool is_so, const char *word)
{
    if (is_so)
        printf(" %s", word);
}

/* Prints a request. A channel is a bit; a flag that is set has a word. */
static void print_request(const struct job_request *request)
{
    printf("spawn %u %u %d", request->comes, request->forwards,
           (int)request->reader);
    printf(" %u:%s %u %u", request->files, or_none(request->name),
           request->label, request->format);
    print_if(request->has_stddiag, "stddiag");
    print_if(request->merges_stderr, "merged");
    print_if(request->has_stdin, "stdin");
    print_if(request->is_kept, "kept");
    print_if(request->waits, "waits");
    print_if(request->is_raw, "raw");
    print_if(request->is_shown, "shown");
    print_if(request->needs_shown, "needed");
    print_if(request->says_stages, "stages");
    print_if(request->says_end, "end");
    print_if(request->has_time, "time");
    print_if(request->notes_end, "noted");
    printf("\n");
}

static void print_spawn(const struct px_lib_spawn *from)
{
    const struct job_request *request = from->request;

    print_request(request);
    printf("wish %d %d %llu %u %u\n", request->drops_oldest,
           (int)request->cache_bytes,
           (unsigned long long)from->wish.cache_bytes, request->buffer_bytes,
           request->buffer_s);
    for (uint32_t i = 0; i < request->apps_count; i++)
        print_app(&request->apps[i]);
    fflush(stdout);
}

/* The first word of the program says how the spawn is answered: a number is an
 * enum px_lib_answer. */
void one_on_spawn(void *arg, const struct px_lib_spawn *spawn)
{
    const char *word = spawn->request->apps[0].program.argv[0];
    char nspace[64];

    (void)arg;
    print_spawn(spawn);
    if (strcmp(word, "keep") == 0) {
        keep(spawn->call, true);
        return;
    }
    if (word[0] >= '0' && word[0] <= '9') {
        px_lib_answer(spawn->call, (enum px_lib_answer)atoi(word));
        return;
    }
    snprintf(nspace, sizeof(nspace), "%s.%u", ONE_JOB, ++one.spawned);
    px_lib_job(nspace, spawn->request->apps[0].procs);
    px_lib_answer_spawn(spawn->call, nspace);
}

/* --- control, logs, events of the tool */

void one_on_control(void *arg, const struct px_lib_control *control)
{
    (void)arg;
    printf("control %d", control->signo);
    for (size_t i = 0; i < control->count; i++)
        printf(" %s:%d", control->targets[i].nspace,
               (int)control->targets[i].rank);
    printf("\n");
    fflush(stdout);
    px_lib_answer(control->call,
                  control->signo == 12 ? PX_LIB_NOT_NOW : PX_LIB_YES);
}

void one_on_log(void *arg, const struct px_lib_log *log)
{
    (void)arg;
    for (size_t i = 0; i < log->count; i++)
        printf("log %s %s\n", log->texts[i].is_error ? "err" : "out",
               log->texts[i].text);
    fflush(stdout);
    px_lib_answer(log->call, PX_LIB_YES);
}

void one_on_note(void *arg, const char *words)
{
    (void)arg;
    printf("note %s\n", words);
    fflush(stdout);
}

void one_on_event(void *arg, const void *mem, size_t len_bytes)
{
    char path[4096];
    FILE *file;

    (void)arg;
    snprintf(path, sizeof(path), "%s/event.%u", one.dir, one.events++);
    file = fopen(path, "w");
    if (file == NULL || fwrite(mem, 1, len_bytes, file) != len_bytes ||
        fclose(file) != 0)
        exit(1);
    printf("event %s\n", path);
    fflush(stdout);
}

/* --- events for the tool */

/* Sends the tool the event "CODE NAMESPACE": the end of that job, or another
 * event. */
static void tell_event(const char *words)
{
    struct px_lib_name source = {.rank = PX_LIB_ALL};
    struct px_lib_info infos[2];
    char *space;
    unsigned long code = strtoul(words, &space, 10);
    int rc;

    snprintf(source.nspace, sizeof(source.nspace), "%s", space + 1);
    infos[0] = (struct px_lib_info){
        PX_KEY_AFFECTED, false, {.type = PX_LIB_NAME, .as.names = &source}};
    infos[1] = (struct px_lib_info){
        PX_KEY_TERM_STATUS,
        false,
        {.type = PX_LIB_STATUS, .as.status = PX_LIB_JOB_SIGNALLED}};
    rc = px_lib_event((enum px_lib_status)code, &source, infos, 2);
    printf("told %d\n", rc);
    fflush(stdout);
}

static void tell_event_of(const char *path)
{
    static char mem[BYTES_MAX];
    FILE *file = fopen(path, "r");
    size_t got = file != NULL ? fread(mem, 1, sizeof(mem), file) : 0;

    if (file != NULL)
        fclose(file);
    printf("told %d\n", px_lib_event_of(mem, got));
    fflush(stdout);
}

/* Delivers the output "NAMESPACE RANK CHANNEL TEXT", where the text becomes a
 * line. */
static void give_line(char *words)
{
    struct px_lib_output output = {.nspace = strtok(words, " ")};
    char line[1024];

    output.rank = (uint32_t)atoi(strtok(NULL, " "));
    output.channel = (uint16_t)atoi(strtok(NULL, " "));
    output.is_pulled = words[0] == '!';
    output.nspace += output.is_pulled;
    output.len_bytes =
        (size_t)snprintf(line, sizeof(line), "%s\n", strtok(NULL, "\n"));
    output.mem = line;
    printf("told %d\n", px_lib_deliver(&output));
    fflush(stdout);
}

bool one_obey(char *line)
{
    char *rest = strchr(line, ' ');

    if (rest == NULL)
        rest = line + strlen(line);
    else
        *rest++ = '\0';
    if (strcmp(line, "event") == 0)
        tell_event(rest);
    else if (strcmp(line, "of") == 0)
        tell_event_of(rest);
    else if (strcmp(line, "give") == 0)
        give_line(rest);
    else if (strcmp(line, "answer") == 0)
        one_answer_all();
    else if (strcmp(line, "slow") == 0)
        px_lib_slow(rest[0] == '1');
    else
        return false;
    return true;
}
