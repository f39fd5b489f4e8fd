/* How call chains are merged, and how the tree is drawn. */
#include "commands/stack/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "commands/stack/draw.h"
#include "tests/unit/chance.h"

enum { FRAMES = 32 };

static struct stack_tree tree;
static struct stack_room room;

/* Adds a chain that is written as "main solve@p.c:3 wait". */
static int add(uint32_t rank, const char *program, const char *chain)
{
    struct stack_frame frames[FRAMES];
    uint32_t count = 0;

    for (const char *at = chain; *at != '\0' && count < FRAMES;) {
        const size_t len = strcspn(at, " "), name = strcspn(at, " @");
        struct stack_frame *frame = &frames[count++];

        *frame = (struct stack_frame){.name = at, .name_bytes = (uint32_t)name};
        if (name < len) {
            frame->file = at + name + 1;
            frame->file_bytes = (uint32_t)strcspn(frame->file, ": ");
            if (frame->file[frame->file_bytes] == ':')
                frame->line =
                    (uint32_t)atoi(frame->file + frame->file_bytes + 1);
        }
        at += len + (at[len] == ' ');
    }
    return stack_tree_add(&tree, &room, rank, program, frames, count);
}

static const char *drawn(uint32_t columns)
{
    static char text[16384];
    FILE *out = fmemopen(text, sizeof(text), "w");

    assert_non_null(out);
    text[0] = '\0';
    assert_int_equal(stack_tree_sort(&tree), 0);
    stack_draw(&tree, columns, out);
    fclose(out);
    return text;
}

static int set_up(void **state)
{
    (void)state;
    tree = (struct stack_tree){.root = {.name = NULL}};
    room.left_bytes = 1 << 20;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    stack_tree_free(&tree);
    return 0;
}

/* Functions that all ranks call are one line; the largest part comes first. */
static void chains_are_merged(void **state)
{
    (void)state;
    assert_int_equal(add(999, "p", "main write_result fsync"), 0);
    for (uint32_t rank = 0; rank < 999; rank++)
        assert_int_equal(add(rank, "p", "main solve step MPI_Allreduce"), 0);
    assert_string_equal(drawn(0),
                        "main  ranks 0-999 (1000)\n"
                        "  solve > step > MPI_Allreduce  ranks 0-998 (999)\n"
                        "  write_result > fsync  rank 999\n");
}

/* A chain that ends where others go on is counted for its last function. */
static void a_chain_may_end_within_another(void **state)
{
    (void)state;
    (void)add(0, "p", "main a b");
    (void)add(1, "p", "main a");
    (void)add(2, "p", "main a b c");
    assert_string_equal(drawn(0), "main > a  ranks 0-2 (3)\n"
                                  "  b  ranks 0,2 (2)\n"
                                  "    c  rank 2\n");
}

/* The place of a function is shown when it is the same for all; threads, when a
 * rank has several; programs, when there are several. */
static void places_threads_and_programs_are_told(void **state)
{
    (void)state;
    (void)add(0, "p", "main@/s/p.c:9 a@/s/p.c:3 ??@/lib/l.so");
    (void)add(1, "p", "main@/s/p.c:9 a@/s/p.c:4 ??@/lib/l.so");
    assert_string_equal(drawn(0),
                        "main (p.c:9) > a > ?? (l.so)  ranks 0-1 (2)\n");
    (void)add(1, "p", "start th");
    (void)add(1, "p", "start th");
    (void)add(1, "sh", "main wait wait wait");
    assert_string_equal(drawn(0),
                        "p  ranks 0-1 (2), 4 threads\n"
                        "  main (p.c:9) > a > ?? (l.so)  ranks 0-1 (2)\n"
                        "  start > th  rank 1, 2 threads\n"
                        "sh > main > wait (3 times)  rank 1\n");
}

/* Lines are continued at the terminal's width; a longer name is cut off, and so
 * are sets with many ranges. */
static void lines_are_as_wide_as_the_terminal(void **state)
{
    char name[200], *line;

    (void)state;
    (void)add(0, "p", "main first_function second_function third_function");
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (uint32_t rank = 2; rank < 200; rank += 2)
        (void)add(rank, "p", name);
    assert_string_equal(strstr(drawn(40), "main"),
                        "main > first_function >\n"
                        "    second_function > third_function\n"
                        "    rank 0\n");
    line = strtok((char *)drawn(80), "\n");
    assert_int_equal(strlen(line), 74);
    assert_true(strncmp(line, "...nnn", 6) == 0);
    line = strtok(NULL, "\n");
    assert_non_null(strstr(line, "    ranks 2,4,"));
    assert_non_null(strstr(line, ",... (99)"));
}

/* A long name of C++ loses its parameters before it is cut off. */
static void long_names_are_squeezed(void **state)
{
    static const struct {
        const char *name, *want;
    } cases[] = {
        {"f<std::map<int, int> >::g(std::vector<int> const&) const",
         "f<...>::g(...) const"},
        {"(anonymous namespace)::f<&A::operator-> >(int)::{lambda()#1}",
         "...ace)::f<...>(...)::{lambda()#1}"},
        {"std::function<void (int)>::operator()(unsigned long)",
         "......>::operator()(unsigned long)"},
        {"operator<< <a, b, c, d, e, f, g>(an_unclosed_one<",
         "...c, d, e, f, g>(an_unclosed_one<"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct stack_frame frame = {.name = cases[i].name,
                                          .name_bytes =
                                              (uint32_t)strlen(cases[i].name)};

        set_up(NULL);
        (void)stack_tree_add(&tree, &room, 0, "p", &frame, 1);
        assert_string_equal(strtok((char *)drawn(40), "\n"),
                            i == 0 ? "f<...>::g(...) const  rank 0"
                                   : cases[i].want);
        stack_tree_free(&tree);
    }
}

/* A character that a terminal would obey becomes '?'. */
static void names_are_made_clean(void **state)
{
    const struct stack_frame frame = {.name = "a\033\0\xff", .name_bytes = 4};

    (void)state;
    (void)stack_tree_add(&tree, &room, 7, "p", &frame, 1);
    assert_string_equal(drawn(0), "a???  rank 7\n");
}

/* Memory and children have limits, and the ranks that are known stay. */
static void what_is_kept_is_bounded(void **state)
{
    char name[16];

    (void)state;
    for (uint32_t i = 0; i < STACK_CHILDREN_MAX + 10; i++) {
        snprintf(name, sizeof(name), "f%u", i);
        assert_int_equal(add(i, "p", name), 0);
    }
    assert_int_equal(tree.root.first->children, STACK_CHILDREN_MAX + 1);
    room.left_bytes = 10;
    assert_int_not_equal(add(5000, "p", "f1 new"), 0);
    assert_int_equal(add(1, "p", "f1"), 0);
    assert_int_equal(stack_tree_sort(&tree), 0);
    assert_int_equal(topo_ranges_size(&tree.root.first->ranks),
                     STACK_CHILDREN_MAX + 10 + 1);
}

/* The sets of a function are those of the chains that contain it, for chains of
 * any kind: compared with a simple table. */
static void sets_are_those_of_the_chains(void **state)
{
    enum { RANKS = 300, NAMES = 3, DEPTH = 3 };

    static bool has[RANKS][NAMES + 1][NAMES + 1][NAMES + 1];
    struct chance chance = chance_start(8);
    uint32_t want = 0, found = 0;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        const uint32_t rank = chance_in(&chance, 0, RANKS - 1);
        uint32_t at[DEPTH] = {0, 0, 0};
        char chain[16] = "";

        for (uint32_t d = 0; d < chance_in(&chance, 1, DEPTH); d++) {
            at[d] = chance_in(&chance, 1, NAMES);
            sprintf(chain + strlen(chain), "%sf%u", d > 0 ? " " : "", at[d]);
            want += !has[rank][at[0]][at[1]][at[2]];
            has[rank][at[0]][at[1]][at[2]] = true;
        }
        assert_int_equal(add(rank, "p", chain), 0);
    }
    for (struct stack_node *a = tree.root.first->first; a != NULL;
         a = a->next) {
        found += topo_ranges_size(&a->ranks);
        for (struct stack_node *b = a->first; b != NULL; b = b->next) {
            found += topo_ranges_size(&b->ranks);
            for (struct stack_node *c = b->first; c != NULL; c = c->next)
                found += topo_ranges_size(&c->ranks);
        }
    }
    assert_int_equal(want, found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(chains_are_merged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_chain_may_end_within_another, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(places_threads_and_programs_are_told,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_are_as_wide_as_the_terminal,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_names_are_squeezed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(names_are_made_clean, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_kept_is_bounded, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(sets_are_those_of_the_chains, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
