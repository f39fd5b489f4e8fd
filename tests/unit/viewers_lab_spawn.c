/* Writes requests to start jobs as text. */
#include "job/program.h"
#include "job/request.h"
#include "tests/unit/viewers_lab.h"

static void add_app(char *text, size_t size_bytes, const struct job_wish *app)
{
    size_t len = strlen(text);

    len += (size_t)snprintf(text + len, size_bytes - len, " %u*", app->procs);
    for (uint32_t i = 0; app->program.argv[i] != NULL; i++)
        len += (size_t)snprintf(text + len, size_bytes - len, "%s%.64s",
                                i > 0 ? "," : "", app->program.argv[i]);
    for (uint32_t i = 0; i < app->env_count; i++)
        len += (size_t)snprintf(text + len, size_bytes - len, " %.64s",
                                app->env[i].text);
    if (app->program.cwd != NULL)
        len += (size_t)snprintf(text + len, size_bytes - len, " in %s",
                                app->program.cwd);
    if (app->hosts != NULL)
        snprintf(text + len, size_bytes - len, " on %s", app->hosts);
}

/* Writes only the parts in which a request differs from that of `xylem run
 * --dvm`. */
static void add_output_wish(char *text, size_t size_bytes,
                            const struct ep_client_spawn *spawn)
{
    static const char *const kinds[] = {"none", "dir", "file", "pattern"};
    const struct ep_client_sinks *sinks = &spawn->output;
    char numbers[64] = "", files[64] = "";

    if (spawn->cache_bytes != JOB_CACHE_UNSAID ||
        spawn->cache_channels != (spawn->has_stddiag ? LAB_BOTH | 8 : LAB_BOTH))
        snprintf(numbers, sizeof(numbers), ", keeps %u of %u",
                 spawn->cache_bytes, spawn->cache_channels);
    if (sinks->names.kind != EP_NAMES_NONE)
        snprintf(files, sizeof(files), ", %s %s style %d.%d",
                 kinds[sinks->names.kind], sinks->names.text,
                 (int)sinks->style.label, (int)sinks->style.format);
    snprintf(text, size_bytes, "%s%s%s%s%s%s%s%s",
             spawn->has_stddiag ? ", stddiag" : "",
             sinks->merges_stderr ? ", merged" : "", numbers, files,
             sinks->style.has_time ? ", time" : "",
             sinks->is_raw ? ", raw" : "", sinks->is_shown ? ", shown" : "",
             sinks->is_show_needed ? ", needed" : "");
}

uint32_t lab_note_spawn(struct lab *lab, const struct ep_client_spawn *spawn)
{
    char text[1024] = "spawn";
    uint32_t size = 0;

    for (uint32_t i = 0; i < spawn->apps_count; i++) {
        add_app(text, sizeof(text), &spawn->apps[i]);
        size += spawn->apps[i].procs;
    }
    if (spawn->has_stdin && spawn->reader == JOB_READERS_ALL)
        strcat(text, ", all read");
    else if (spawn->has_stdin)
        sprintf(text + strlen(text), ", %u reads", spawn->reader);
    add_output_wish(text + strlen(text), sizeof(text) - strlen(text), spawn);
    if (spawn->keeps_last)
        strcat(text, ", last states");
    if (spawn->watch.ms > 0)
        sprintf(text + strlen(text), ", watched for %u ms%s", spawn->watch.ms,
                spawn->watch.all ? ", all" : "");
    lab_add(lab->calls, "%s", text);
    return size;
}

void lab_own(struct lab *lab, struct lab_client *client)
{
    const char *const argv[] = {"a", NULL};
    struct job_wish app = {.program.argv = argv, .procs = LAB_OWN_SIZE};
    const struct job_request request = {.apps = &app,
                                        .apps_count = 1,
                                        .has_stdin = true,
                                        .has_stddiag = true,
                                        .waits = true,
                                        .comes = LAB_BOTH | 8,
                                        .forwards = LAB_BOTH | 8,
                                        .cache_bytes = JOB_CACHE_UNSAID};
    uint8_t mem[256];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    job_request_encode(&wr, &request);
    lab_calls(lab);
    lab_ask(lab, client);
    assert_string_equal(lab_spawn(client, mem, (size_t)(wr.at - mem), false),
                        "");
    assert_memory_equal(lab_heard(client), "job ", 4);
    ASSERT_CALLS(lab, "spawn 4*a, 0 reads, stddiag");
}
