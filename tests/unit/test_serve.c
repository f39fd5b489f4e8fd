/* What a link sends next: messages before data, in their order, in frames of 4
 * KiB at most. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lab.h"

enum {
    WORDS_FRAME_BYTES = 4096,
    ASK_BYTES = 56, /* the length of an ask for one node without members, when
                     * one stream is open */
    ASK_BYTES_MAX = OV_ITEM_HEAD_BYTES + OV_CLAIM_BYTES + 2 * OV_MEMBER_BYTES +
                    OV_STREAMS_MAX * OV_CURSOR_BYTES
};

static struct lab lab;

/* Opens node `self`, welcomed by its parent on L0. */
static void open_node(struct ov_cfg cfg, uint32_t self)
{
    lab_open(&lab, cfg, self);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, topo_tree_parent(&cfg.plan, self)));
    heard(&lab, 0, 0, "welcome:#1 path:0 limit:9");
    seen(&lab, 0, SENT(0, 1));
}

/* Adds a child on a link, which is welcomed; returns what was sent to it. */
static const char *add_child(uint16_t link, uint32_t child)
{
    static char said[LAB_TEXT_BYTES];
    char words[32];

    snprintf(words, sizeof(words), "hello:%u#1", (unsigned)child);
    seen(&lab, 0, CALLED(link, child));
    heard(&lab, 0, link, words);
    snprintf(words, sizeof(words), "answer:%u#1", (unsigned)child);
    strcpy(said, heard(&lab, 0, 0, words));
    seen(&lab, 0, SENT(0, 1));
    seen(&lab, 0, SENT(link, 2)); /* the messages ASKED and WELCOME */
    return said;
}

/* Fills all slots of the transport on a link; returns how many there were. */
static unsigned fill(uint16_t link)
{
    unsigned frames = 0;

    for (; ov_link_can_send(&lab.node->links[link], &lab.cfg, false); frames++)
        ov_link_on_send(&lab.node->links[link], false, 0);
    return frames;
}

/* --- order */

/* A parent gets asks, which say how far this node is in the streams, or bases;
 * then records; and inputs are read last. */
static void words_to_the_parent_have_an_order(void **state)
{
    unsigned frames;

    (void)state;
    open_node(lab_cfg(15, 2), 1);
    add_child(1, 3);
    heard(&lab, 0, 1, "up:3.1(3000)");
    seen(&lab, 0, SENT(0, 1));
    frames = fill(0);
    heard(&lab, 0, 0, "app");
    assert_string_equal(seen(&lab, 0, SENT(1, 1)), "");
    heard(&lab, 0, 1, "up:3.2(3000)");
    assert_string_equal(heard(&lab, 0, 1, "base:0=1"), "");
    assert_string_equal(seen(&lab, 0, CONSUMED(0, 1, 0)), "");
    assert_string_equal(heard(&lab, 0, 1, "ask:8#1<3 ask:7#4<3"), "");
    assert_string_equal(seen(&lab, 0, READY(1)), "");
    assert_string_equal(seen(&lab, 0, SENT(0, frames)),
                        "send:L0[ask:8#1<3~0=1/1 ask:7#4<3~0=1/1] "
                        "send:L0[up:3.2(3000)] read:I1<4064 "
                        "send:L1[limit:6]");
    wrote(&lab, 0, 1, 0, OV_INPUT_IDLE);
    seen(&lab, 0, SENT(0, 2));
    frames = fill(0);
    heard(&lab, 0, 0, "app");
    heard(&lab, 0, 1, "up:3.3(3000)");
    seen(&lab, 0, CONSUMED(0, 2, 0));
    assert_string_equal(heard(&lab, 0, 1, "base:0=2"), "");
    assert_string_equal(seen(&lab, 0, SENT(0, frames)),
                        "send:L0[base:0=2] send:L0[up:3.3(3000)]");
    lab_close(&lab);
}

/* The hello is the first message; facts known before follow it, after the
 * welcome. */
static void the_hello_is_the_first_word(void **state)
{
    (void)state;
    lab_open(&lab, lab_cfg(15, 2), 1);
    seen(&lab, 0, START);
    seen(&lab, 0, CALLED(1, 3));
    heard(&lab, 0, 1, "hello:3#1");
    seen(&lab, 0, READY(1));
    assert_string_equal(seen(&lab, 0, DIALLED(0, 0)),
                        "send:L0[hello:1#1~0=0/0]");
    assert_string_equal(seen(&lab, 0, SENT(0, 1)), "");
    assert_string_equal(heard(&lab, 0, 0, "welcome:#1 path:0 limit:4"),
                        "adopted:0 send:L0[ask:3#1<1~0=0/0] read:I1<4064");
    lab_close(&lab);
}

/* A child gets the welcome, the answers to its asks as they came, the limit,
 * acknowledgements for nodes beneath it, stream 0, and last the other
 * streams. */
static void words_to_a_child_have_an_order(void **state)
{
    struct ov_cfg cfg = lab_cfg(15, 2);
    unsigned frames;

    (void)state;
    cfg.control_frames = 4;
    open_node(cfg, 1);
    heard(&lab, 0, 0, "app");
    assert_string_equal(add_child(1, 3),
                        "send:L1[welcome:#1 path:1,0 limit:4] send:L1[app]");
    seen(&lab, 0, SENT(1, 1));
    heard(&lab, 0, 1, "ask:7#1<3 ask:8#1<3");
    frames = fill(1);
    for (unsigned i = 0; i < 2; i++)
        heard(&lab, 0, 1, "up:3.1(3000)");
    assert_string_equal(heard(&lab, 0, 0, "answer:8#1 ack:3=1/1"), "");
    assert_string_equal(heard(&lab, 0, 0, "ack:8=2/1 answer:7#1"), "");
    heard(&lab, 0, 0, "open:1w4:3-3");
    assert_string_equal(heard(&lab, 0, 0, "down:1.0(9)"), "");
    assert_string_equal(
        seen(&lab, 0, SENT(1, frames)),
        "send:L1[answer:8#1 answer:7#1 limit:6 ack:3=1/1 ack:8=2/1] "
        "send:L1[open:1w4:3-3] send:L1[down:1.0(9)]");
    lab_close(&lab);
}

/* A child that has not been welcomed is told that the root is asked, and
 * nothing else. */
static void nothing_is_said_before_the_welcome(void **state)
{
    (void)state;
    open_node(lab_cfg(15, 2), 1);
    seen(&lab, 0, CALLED(1, 3));
    assert_string_equal(heard(&lab, 0, 1, "hello:3#1"),
                        "send:L1[asked:#1] send:L0[ask:3#1<1~0=0/0]");
    assert_string_equal(heard(&lab, 0, 0, "app"), "consume:0.0(4)");
    assert_string_equal(heard(&lab, 0, 0, "ack:3=0/0"), "");
    assert_string_equal(heard(&lab, 0, 0, "answer:3#1"),
                        "send:L1[welcome:#1 path:1,0 limit:4] send:L1[app]");
    lab_close(&lab);
}

/* --- slots */

/* Data never takes all slots, so messages find one. When no slot is left they
 * wait, and go together when there is one. */
static void words_find_a_slot_beside_data(void **state)
{
    struct ov_cfg cfg = lab_cfg(15, 2);

    (void)state;
    cfg.send_slots = 4;
    cfg.data_slots = 2;
    open_node(cfg, 1);
    add_child(1, 3);
    heard(&lab, 0, 1, "up:3.1(3000)");
    assert_string_equal(heard(&lab, 0, 1, "up:3.2(3000)"),
                        "send:L0[up:3.2(3000)] send:L1[limit:6]");
    assert_string_equal(heard(&lab, 0, 1, "up:3.3(3000)"), "");
    assert_string_equal(heard(&lab, 0, 1, "ask:7#1<3"),
                        "send:L0[ask:7#1<3~0=0/0]");
    assert_string_equal(heard(&lab, 0, 1, "ask:8#1<3"),
                        "send:L0[ask:8#1<3~0=0/0]");
    assert_string_equal(heard(&lab, 0, 1, "ask:8#2<3"), "");
    assert_string_equal(heard(&lab, 0, 1, "ask:7#2<3"), "");
    assert_string_equal(seen(&lab, 0, SENT(0, 1)),
                        "send:L0[ask:8#2<3~0=0/0 ask:7#2<3~0=0/0]");
    assert_string_equal(seen(&lab, 0, SENT(0, 1)), "send:L0[up:3.3(3000)]");
    lab_close(&lab);
}

/* --- length */

/* Returns how many asks were sent, and in how many frames. */
static unsigned count_asks(const char *text, unsigned *frames)
{
    unsigned asks = 0;

    for (const char *at = text; *at != '\0'; at++) {
        asks += strncmp(at, "ask:", 4) == 0;
        *frames += strncmp(at, "send:", 5) == 0;
    }
    return asks;
}

/* There are more messages than fit into a frame of 4 KiB: they take as many
 * frames as needed, full ones first, and each message is sent once. An ask
 * begins only where its largest first part would fit. */
static void many_words_take_several_frames(void **state)
{
    const unsigned room = WORDS_FRAME_BYTES - OV_FRAME_HEAD_BYTES;
    const unsigned most = (room - ASK_BYTES_MAX) / ASK_BYTES + 1;
    struct ov_cfg cfg = lab_cfg(2047, 2);
    unsigned count = 0, asks = 0, slots, frames = 0, first_frames = 0;
    char words[64];

    (void)state;
    cfg.frame_bytes = 65536; /* larger frames do not make messages longer */
    cfg.up_window_bytes = 4 * 65536;
    open_node(cfg, 1);
    add_child(1, 3);
    slots = fill(0);
    /* Node 3 has 7 and 8 beneath it, these have 15 to 18, then 31 to 38 ... */
    for (uint32_t low = 7, high = 8; high < 1300;
         low = 2 * low + 1, high = 2 * high + 2) {
        for (uint32_t n = low; n <= high; n++, count++) {
            snprintf(words, sizeof(words), "ask:%u#1<%u", (unsigned)n,
                     (unsigned)(n - 1) / 2);
            assert_string_equal(heard(&lab, 0, 1, words), "");
        }
    }
    assert_true(count > 2 * most);
    seen(&lab, 0, SENT(0, slots));
    assert_memory_equal(lab.text, "send:L0[ask:7#1<3~0=0/0 ask:8#1<3~0=0/0",
                        39);
    while (strstr(lab.text, "more") != NULL) {
        asks += count_asks(lab.text, &frames);
        *strchr(lab.text, ']') = '\0';
        assert_int_equal(count_asks(lab.text, &first_frames), most);
        seen(&lab, 0, TICK);
    }
    asks += count_asks(lab.text, &frames);
    assert_int_equal(asks, count);
    assert_int_equal(frames, (count + most - 1) / most);
    lab_close(&lab);
}

/* The path of a chain is cut to 64 nodes: the nearest ancestors, and the
 * root. */
static void a_long_path_names_the_nearest_and_the_root(void **state)
{
    char want[1024] = "send:L1[welcome:#1 path:70";
    struct ov_tree *tree;

    (void)state;
    open_node(lab_cfg(100, 1), 70);
    tree = &lab.node->tree;
    assert_int_equal(tree->ancestors_max, OV_ANCESTORS_MAX);
    tree->ancestors_count = OV_ANCESTORS_MAX;
    for (uint32_t i = 0; i < OV_ANCESTORS_MAX; i++)
        tree->ancestors[i] = i + 1 < OV_ANCESTORS_MAX ? 69 - i : 0;
    for (unsigned n = 69; n > 70 - (OV_ANCESTORS_MAX - 1); n--)
        snprintf(want + strlen(want), sizeof(want) - strlen(want), ",%u", n);
    strcat(want, ",0 limit:4]");
    assert_string_equal(add_child(1, 71), want);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_to_the_parent_have_an_order),
        cmocka_unit_test(the_hello_is_the_first_word),
        cmocka_unit_test(words_to_a_child_have_an_order),
        cmocka_unit_test(nothing_is_said_before_the_welcome),
        cmocka_unit_test(words_find_a_slot_beside_data),
        cmocka_unit_test(many_words_take_several_frames),
        cmocka_unit_test(a_long_path_names_the_nearest_and_the_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
