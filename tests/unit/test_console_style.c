/* Records of several styles on one console. */
#include "config.h"

#include "endpoints/console/console.h"

#include "tests/unit/console_rig.h"

/* One job's bytes are written unchanged, the other job's with labels, in turn:
 * each line and each unfinished line keeps its place, and gets a newline when
 * another process follows. */
static void each_job_has_its_style(void **state)
{
    static const struct text_style plain = {.nspace = "b"};
    static const struct text_style json = {.nspace = "c",
                                           .format = TEXT_FORMAT_JSON};
    struct console_rig rig;

    (void)state;
    rig_prepare(&rig);
    rig.cfg.style.label = TEXT_LABEL_FULL;
    rig_open(&rig);
    rig_say(&rig, 0, "one\n");
    rig.style = &plain;
    rig_say(&rig, 10, "two\nhalf");
    rig_eof(&rig, 10, "");
    rig.style = NULL;
    rig_eof(&rig, 1, "three");
    rig.style = &json;
    rig_eof(&rig, 20, "four");
    rig.style = &plain;
    rig_eof(&rig, 11, "five");
    rig_expect(&rig, "[job,0]<stdout>: one\n"
                     "two\nhalf\n"
                     "[job,1]<stdout>: three\n"
                     "{\"nspace\":\"c\",\"rank\":20,\"host\":\"even\","
                     "\"channel\":\"stdout\",\"text\":\"four\","
                     "\"newline\":false}\n"
                     "five");
}

/* A record keeps its style in the spool and afterwards. */
static void a_spooled_record_keeps_its_style(void **state)
{
    static const struct text_style xml = {.nspace = "c",
                                          .format = TEXT_FORMAT_XML};
    struct console_rig rig;

    (void)state;
    rig_prepare(&rig);
    rig.cfg.style.label = TEXT_LABEL_RANK;
    rig.cfg.park_limit_records = 1;
    rig_open(&rig);
    rig_say(&rig, 0, "op");
    rig_taken(&rig, 1);
    rig.style = &xml;
    rig_say(&rig, 1, "one\n");
    rig_say(&rig, 2, "two\n");
    rig_pass(&rig, 200);
    rig_taken(&rig, 3);
    rig.style = NULL;
    rig_say(&rig, 0, "en\n");
    rig_expect(&rig, "0: open\n"
                     "<stdout rank=\"1\">one&#010;</stdout>\n"
                     "<stdout rank=\"2\">two&#010;</stdout>\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_job_has_its_style),
        cmocka_unit_test(a_spooled_record_keeps_its_style),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
