/* Claims that take several frames, on each of their ways: hello and ask with
 * their members, answer and welcome with the stripped ones. Each part belongs
 * to the same claim, no member is lost or doubled, and a claim that breaks off
 * in the middle leaves nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lab.h"

enum {
    NODES = 8191,
    BENEATH_3 = 2046, /* the number of nodes beneath node 3 */
    BENEATH_7 =
        1022,     /* the number of nodes beneath node 7, and beneath node 8 */
    PART = 240,   /* members in each part that arrives */
    NUMBERS = 900 /* node numbers in each part that arrives */
};

static struct lab lab;

static struct ov_cfg claim_cfg(void)
{
    struct ov_cfg cfg = lab_cfg(NODES, 2);

    cfg.send_slots = OV_SEND_SLOTS_MAX; /* The transport always has room. */
    cfg.data_slots = OV_SEND_SLOTS_MAX - 1;
    return cfg;
}

/* Opens node `self`, welcomed by its planned parent. */
static void open_node(struct ov_cfg cfg, uint32_t self)
{
    lab_open(&lab, cfg, self);
    seen(&lab, 0, START);
    if (self == 0)
        return;
    seen(&lab, 0, DIALLED(0, topo_tree_parent(&cfg.plan, self)));
    heard(&lab, 0, 0, "welcome:#1 limit:4");
}

/* --- parts that arrive */

static char text[LAB_TEXT_BYTES];

static void say(const char *format, uint32_t a, uint32_t b)
{
    size_t len = strlen(text);

    snprintf(text + len, sizeof(text) - len, format, (unsigned)a, (unsigned)b);
}

/* Writes `head` and the members beneath `top` from the at-th on, with their
 * numbers, and "..." when there are more. Returns where the next part begins;
 * 0: there is none. */
static unsigned claim_part(const char *head, uint32_t top, unsigned at)
{
    unsigned index = 0, end = at + PART;
    bool has_more = false;

    snprintf(text, sizeof(text), "%s", head);
    for (uint32_t n = top + 1; n < NODES && !has_more; n++) {
        if (!topo_tree_contains(&lab.cfg.plan, top, n))
            continue;
        if (index >= at && index < end)
            say("+%u#1<%u", n, (n - 1) / 2);
        has_more = index++ == end;
    }
    if (has_more)
        strcat(text, "...");
    return has_more ? end : 0;
}

/* Sends the whole claim on a link; returns the actions at its end. */
static const char *hear_claim(uint16_t link, const char *head, const char *rest,
                              uint32_t top)
{
    unsigned at = claim_part(head, top, 0);

    while (at != 0) {
        assert_string_equal(heard(&lab, 1, link, text), "");
        at = claim_part(rest, top, at);
    }
    return heard(&lab, 1, link, text);
}

/* Sends `head` with `top` and all nodes beneath it as stripped, in parts; the
 * first part causes the actions `first`. Returns the actions at the end. */
static const char *hear_stripped(uint16_t link, const char *head, uint32_t top,
                                 const char *first)
{
    unsigned count = 0;

    snprintf(text, sizeof(text), "%s", head);
    for (uint32_t n = top; n < NODES; n++) {
        if (!topo_tree_contains(&lab.cfg.plan, top, n))
            continue;
        if (count == NUMBERS) {
            strcat(text, "...");
            assert_string_equal(heard(&lab, 2, link, text), first);
            snprintf(text, sizeof(text), "%s", head);
            first = "";
            count = 0;
        }
        say("-%u", n, 0);
        count++;
    }
    return heard(&lab, 2, link, text);
}

/* --- parts that are sent */

static struct {
    bool is_there[NODES];
    unsigned count;  /* nodes after the mark */
    unsigned parts;  /* words that have such nodes */
    unsigned more;   /* words that have more to come */
    unsigned frames; /* frames that were sent */
} said;

/* Adds up what was seen: the nodes after `mark` in words that begin with
 * `word`. */
static void add_up(const char *word, char mark)
{
    for (const char *at = strstr(lab.text, word); at != NULL;
         at = strstr(at + 1, word)) {
        said.parts++;
        for (; *at != '\0' && *at != ' ' && *at != ']'; at++) {
            uint32_t node = (uint32_t)strtoul(at + 1, NULL, 10);

            said.more += strncmp(at, "...", 3) == 0;
            if (*at != mark)
                continue;
            assert_true(node < NODES && !said.is_there[node]);
            said.is_there[node] = true;
            said.count++;
        }
    }
    for (const char *at = lab.text; (at = strstr(at, "send:")) != NULL; at++)
        said.frames++;
}

/* Adds that up, including everything that the node sends after this. */
static void add_all(const char *word, char mark)
{
    memset(&said, 0, sizeof(said));
    add_up(word, mark);
    while (strstr(lab.text, "more") != NULL) {
        seen(&lab, 3, TICK);
        add_up(word, mark);
    }
    assert_true(said.parts > 1);
    assert_int_equal(said.more, said.parts - 1);
}

static void assert_said_beneath(uint32_t top)
{
    for (uint32_t n = 1; n < NODES; n++)
        assert_int_equal(said.is_there[n],
                         n != top && topo_tree_contains(&lab.cfg.plan, top, n));
}

static unsigned asks_in_use(void)
{
    const struct ov_claims *claims = lab.node->tree.claims;
    unsigned count = 0;

    for (uint32_t i = 0; i < claims->asks_used; i++)
        count += claims->asks[i].state != OV_ASK_FREE;
    return count;
}

static unsigned cells_free(void)
{
    const struct ov_claims *claims = lab.node->tree.claims;
    unsigned count = 0;

    for (uint32_t at = claims->cells_free; at != OV_NONE;
         at = claims->cells[at].next)
        count++;
    return count;
}

/* Checks that no node is claimed or asked for, and that no word keeps one. */
static void assert_no_trace(unsigned cells)
{
    const struct ov_members *members = &lab.node->tree.members;

    assert_int_equal(asks_in_use(), 0);
    assert_int_equal(cells_free(), cells);
    for (uint32_t i = 0; i <= members->mask; i++) {
        if (members->table[i].node != TOPO_NONE)
            assert_int_equal(members->table[i].asks, 0);
    }
}

/* --- the ways of a claim */

/* Up: a hello in parts becomes an ask in parts, in which each member stands
 * once. Down: the stripped members come in parts and are passed on in parts,
 * and the others are granted. */
static void a_long_hello_is_asked_for_and_answered(void **state)
{
    unsigned cells;

    (void)state;
    open_node(claim_cfg(), 1);
    cells = cells_free();
    seen(&lab, 1, CALLED(1, 3));
    hear_claim(1, "hello:3#2", "hello:3#2", 3);
    assert_memory_equal(lab.text, "send:L1[asked:#2] send:L0[ask:3#2<1+7#1<3",
                        41);
    add_all("ask:3#2", '+');
    assert_int_equal(said.count, BENEATH_3);
    assert_said_beneath(3);
    hear_stripped(0, "answer:3#2", 7, "");
    add_all("welcome:#2", '-');
    assert_int_equal(said.count, BENEATH_7 + 1);
    assert_int_equal(lab.node->tree.places[0].members, 1 + BENEATH_7 + 1);
    assert_no_trace(cells);
    lab_close(&lab);
}

/* An ask in parts that comes by a child is passed on in parts, and the answer
 * goes back to the child. */
static void a_long_ask_is_passed_on_and_answered(void **state)
{
    unsigned cells;

    (void)state;
    open_node(claim_cfg(), 1);
    cells = cells_free();
    seen(&lab, 1, CALLED(1, 3));
    heard(&lab, 1, 1, "hello:3#1");
    heard(&lab, 1, 0, "answer:3#1");
    hear_claim(1, "ask:7#2<3", "ask:7#2", 7);
    add_all("ask:7#2", '+');
    assert_int_equal(said.count, BENEATH_7);
    assert_said_beneath(7);
    hear_stripped(0, "answer:7#2", 15, "");
    assert_memory_equal(lab.text, "send:L1[answer:7#2-15-31-32", 27);
    assert_int_equal(lab.node->tree.places[0].members,
                     1 + 1 + (BENEATH_7 + 1 - 1) / 2);
    assert_no_trace(cells);
    lab_close(&lab);
}

/* The root strips all nodes that it does not know, in as many parts as
 * needed. */
static void a_long_claim_is_judged(void **state)
{
    unsigned cells;

    (void)state;
    open_node(claim_cfg(), 0);
    cells = cells_free();
    seen(&lab, 1, CALLED(0, 3));
    hear_claim(0, "hello:3#2", "hello:3#2", 3);
    add_all("welcome:#2", '-');
    assert_int_equal(said.count, BENEATH_3);
    assert_said_beneath(3);
    assert_int_equal(lab.node->tree.places[0].members, 1);
    assert_no_trace(cells);
    lab_close(&lab);
}

/* An orphan sends in parts which nodes are beneath it, and is told in parts
 * which of them are not. */
static void an_orphan_with_many_says_and_hears_all(void **state)
{
    (void)state;
    open_node(claim_cfg(), 3);
    seen(&lab, 1, CALLED(1, 7));
    hear_claim(1, "hello:7#1", "hello:7#1", 7);
    seen(&lab, 1, CALLED(2, 8));
    hear_claim(2, "hello:8#1", "hello:8#1", 8);
    heard(&lab, 1, 0, "answer:7#1 answer:8#1");
    assert_string_equal(seen(&lab, 2, ENDED(0)), "orphan:1");
    assert_string_equal(seen(&lab, 2 + 40, TICK), "dial:0#2");
    seen(&lab, 42, DIALLED(0, 0));
    add_all("hello:3#2", '+');
    assert_int_equal(said.count, BENEATH_3);
    assert_int_equal(said.frames, said.parts);
    assert_said_beneath(3);
    assert_string_equal(hear_stripped(0, "welcome:#2", 7, "close:L1"),
                        "adopted:0");
    assert_int_equal(ov_members_find(&lab.node->tree.members, 15)->state,
                     OV_MEMBER_ABSENT);
    assert_int_equal(lab.node->tree.places[1].members, 1 + BENEATH_7);
    lab_close(&lab);
}

/* --- claims that break off in the middle */

/* The link ends between two parts: none of the members that had come are
 * kept. */
static void a_hello_that_breaks_off_leaves_nothing(void **state)
{
    unsigned cells;

    (void)state;
    open_node(claim_cfg(), 1);
    cells = cells_free();
    seen(&lab, 1, CALLED(1, 3));
    claim_part("hello:3#2", 3, 0);
    assert_string_equal(heard(&lab, 1, 1, text), "");
    assert_int_equal(asks_in_use(), 1);
    assert_string_equal(seen(&lab, 1, ENDED(1)), "");
    assert_no_trace(cells);
    assert_int_equal(lab.node->tree.places[0].kind, OV_PLACE_FREE);
    lab_close(&lab);
}

static void an_ask_that_breaks_off_leaves_nothing(void **state)
{
    unsigned cells;

    (void)state;
    open_node(claim_cfg(), 1);
    cells = cells_free();
    seen(&lab, 1, CALLED(1, 3));
    heard(&lab, 1, 1, "hello:3#1");
    heard(&lab, 1, 0, "answer:3#1");
    claim_part("ask:7#2<3", 7, 0);
    assert_string_equal(heard(&lab, 1, 1, text), "");
    assert_string_equal(seen(&lab, 1, ENDED(1)), "probe:3");
    assert_no_trace(cells);
    lab_close(&lab);
}

/* The parent is lost between two parts of an ask: the ask is refused, and the
 * next one begins with its first part. */
static void an_ask_half_said_is_said_anew_by_the_next(void **state)
{
    struct ov_cfg cfg = claim_cfg();
    unsigned cells;

    (void)state;
    cfg.send_slots = 3;
    cfg.data_slots = 1;
    open_node(cfg, 1);
    cells = cells_free();
    seen(&lab, 1, SENT(0, 1));
    seen(&lab, 1, CALLED(1, 3));
    hear_claim(1, "hello:3#2", "hello:3#2", 3);
    memset(&said, 0, sizeof(said));
    add_up("ask:3#2", '+');
    assert_int_equal(said.parts, 3);
    assert_string_equal(seen(&lab, 1, ENDED(0)),
                        "orphan:0 send:L1[refuse:#2!2] close:L1");
    assert_no_trace(cells);
    assert_string_equal(seen(&lab, 1 + 40, TICK), "dial:0#2");
    seen(&lab, 41, DIALLED(0, 0));
    heard(&lab, 41, 0, "welcome:#2");
    seen(&lab, 41, CALLED(1, 4));
    assert_string_equal(heard(&lab, 41, 1, "hello:4#1+9#1<4"),
                        "send:L1[asked:#1] "
                        "send:L0[ask:4#1<1+9#1<4~0=0/0]");
    lab_close(&lab);
}

/* An ask whose first part is refused is not read further, and is answered once;
 * the next ask is read again. */
static void the_rest_of_a_refused_ask_is_dropped(void **state)
{
    (void)state;
    open_node(claim_cfg(), 1);
    seen(&lab, 1, CALLED(1, 3));
    heard(&lab, 1, 1, "hello:3#1");
    heard(&lab, 1, 0, "answer:3#1 left:7!");
    claim_part("ask:7#2<3", 7, 0);
    assert_string_equal(heard(&lab, 1, 1, text), "send:L1[answer:7#2!1]");
    claim_part("ask:7#2", 7, PART);
    assert_string_equal(heard(&lab, 1, 1, text), "");
    assert_string_equal(heard(&lab, 1, 1, "ask:7#2+31#1<15 ask:8#1<3"),
                        "send:L0[ask:8#1<3~0=0/0]");
    assert_int_equal(asks_in_use(), 1);
    lab_close(&lab);
}

/* A part of another claim in between, or one part too many, ends the link. */
static void parts_of_two_claims_do_not_mix(void **state)
{
    static const char *const wrong[] = {"ask:8#1<3", "ask:7#3+15#1<7",
                                        "ask:7#2+17#1<8"};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        open_node(claim_cfg(), 1);
        seen(&lab, 1, CALLED(1, 3));
        heard(&lab, 1, 1, "hello:3#1");
        heard(&lab, 1, 0, "answer:3#1");
        heard(&lab, 1, 1, "ask:7#2<3...");
        assert_string_equal(heard(&lab, 1, 1, wrong[i]), "close:L1 probe:3");
        assert_int_equal(asks_in_use(), 0);
        lab_close(&lab);
    }
    open_node(claim_cfg(), 1);
    seen(&lab, 1, CALLED(1, 3));
    heard(&lab, 1, 1, "hello:3#2... hello:3#2");
    assert_string_equal(heard(&lab, 1, 1, "hello:3#2+7#1<3"), "close:L1");
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_hello_is_asked_for_and_answered),
        cmocka_unit_test(a_long_ask_is_passed_on_and_answered),
        cmocka_unit_test(a_long_claim_is_judged),
        cmocka_unit_test(an_orphan_with_many_says_and_hears_all),
        cmocka_unit_test(a_hello_that_breaks_off_leaves_nothing),
        cmocka_unit_test(an_ask_that_breaks_off_leaves_nothing),
        cmocka_unit_test(an_ask_half_said_is_said_anew_by_the_next),
        cmocka_unit_test(the_rest_of_a_refused_ask_is_dropped),
        cmocka_unit_test(parts_of_two_claims_do_not_mix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
