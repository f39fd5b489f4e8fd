/* A console whose stdout and stderr are one file. */
#include "config.h"

#include "endpoints/console/console.h"

#include "tests/unit/console_rig.h"

static void open_one(struct console_rig *rig, enum text_label_mode label,
                     bool is_prompting)
{
    rig_prepare(rig);
    rig->is_one_file = true;
    rig->cfg.style.label = label;
    rig->cfg.is_prompting = is_prompting;
    rig_open(rig);
}

/* Otherwise blocks of stdout would end inside lines of stderr. */
static void one_file_for_both_is_one_way(void **state)
{
    struct console_rig rig;

    (void)state;
    open_one(&rig, TEXT_LABEL_RANK, false);
    rig_say(&rig, 0, "op");
    rig_send(&rig, 1, TEXT_CHANNEL_STDERR, "err\n", 4, false);
    rig_send(&rig, 0, TEXT_CHANNEL_STDERR, "own\n", 4, false);
    rig_say(&rig, 0, "en\n");
    rig_expect(&rig, "0: open\n1: err\n0: own\n");
}

/* There are two outputs, as usual, where one would otherwise wait behind a
 * prompt. */
static void behind_a_prompt_nothing_waits(void **state)
{
    struct console_rig rig;

    (void)state;
    open_one(&rig, TEXT_LABEL_NONE, true);
    rig_say(&rig, 0, "name? ");
    rig_taken(&rig, 1);
    rig_send(&rig, 1, TEXT_CHANNEL_STDERR, "other\n", 6, false);
    rig_taken(&rig, 2);
    rig_expect(&rig, "name? other\n");
}

/* Output is written in the order in which it came: nothing is put between two
 * channels of one process. */
static void without_labels_it_is_byte_for_byte(void **state)
{
    struct console_rig rig;

    (void)state;
    open_one(&rig, TEXT_LABEL_NONE, false);
    rig_eof(&rig, 0, "abc");
    rig_send(&rig, 0, TEXT_CHANNEL_STDERR, "def", 3, true);
    rig_expect(&rig, "abcdef");
}

/* The third channel goes to the same file. */
static void diagnostics_go_with_them(void **state)
{
    struct console_rig rig;

    (void)state;
    open_one(&rig, TEXT_LABEL_RANK, false);
    rig_say(&rig, 0, "op");
    rig_send(&rig, 1, TEXT_CHANNEL_STDDIAG, "diag\n", 5, true);
    rig_say(&rig, 0, "en\n");
    rig_expect(&rig, "0: open\n1: diag\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_file_for_both_is_one_way),
        cmocka_unit_test(behind_a_prompt_nothing_waits),
        cmocka_unit_test(without_labels_it_is_byte_for_byte),
        cmocka_unit_test(diagnostics_go_with_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
