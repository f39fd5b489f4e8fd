/* Rows beneath random output: what a terminal shows in the end is each line
 * once, in the order of its process, and no row. */
#include "config.h"

#include "endpoints/console/console.h"

#include "tests/unit/chance.h"
#include "tests/unit/console_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEDS = 300,
    STEPS = 400,
    RANKS = 30,
    LINES_MAX = 32768,
    COLUMNS = 32, /* more than any line has */
    SAID_MAX = 1 << 15,
};

/* A terminal that is never too narrow and keeps all its lines. */
struct screen {
    char lines[LINES_MAX][COLUMNS];
    int line, column;
};

/* What a rank has said that was not sent yet, and the lines of all of it. */
struct rank {
    char said[SAID_MAX];
    size_t said_bytes, sent_bytes;
    char lines[SAID_MAX / 4][8];
    int lines_count;
    bool is_open; /* its line is a bar */
};

static struct chance dice;

static uint32_t chance(uint32_t n)
{
    return chance_in(&dice, 0, n - 1);
}

static void erase_to_end(struct screen *screen)
{
    for (int i = screen->column; i < COLUMNS; i++)
        screen->lines[screen->line][i] = '\0';
}

/* Does what the sequence behind ESC [ says. Returns its end. */
static const char *take_sequence(struct screen *screen, const char *at)
{
    int count = (int)strtol(at, (char **)(uintptr_t)&at, 10);

    if (*at == 'K' || *at == 'J')
        erase_to_end(screen);
    if (*at == 'A') {
        screen->line -= count;
        assert_true(count > 0 && screen->line >= 0);
    }
    for (int i = screen->line + 1; *at == 'J' && i < LINES_MAX; i++) {
        if (screen->lines[i][0] == '\0')
            break;
        memset(screen->lines[i], 0, COLUMNS);
    }
    assert_non_null(strchr("KJA", *at));
    return at;
}

static void take(struct screen *screen, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\r') {
            screen->column = 0;
        } else if (*at == '\n') {
            screen->line++;
            screen->column = 0; /* as a terminal does for programs */
        } else if (*at == '\033') {
            at = take_sequence(screen, at + 2);
        } else {
            screen->lines[screen->line][screen->column++] = *at;
        }
        assert_true(screen->line < LINES_MAX && screen->column < COLUMNS);
    }
}

static void read_all(struct console_rig *rig, struct screen *screen)
{
    static char text[1 << 16];
    ssize_t got;

    while ((got = read(rig->out_fd, text, sizeof(text) - 1)) > 0) {
        text[got] = '\0';
        take(screen, text);
    }
}

/* Adds a state, the end of a bar, or a line. All states have three digits, as
 * what a shorter one leaves of a longer one is another matter. */
static void think(struct rank *rank)
{
    char *to = rank->said + rank->said_bytes;
    const uint32_t what = chance(4);
    int len;

    assert_true(rank->said_bytes + 16 < SAID_MAX);
    if (rank->is_open && what == 0) {
        len = sprintf(to, "%s\n", chance(2) ? "\r" : "");
        rank->is_open = false;
        rank->lines_count++;
    } else if (what == 1 && !rank->is_open) {
        len = sprintf(to, "%03u\n", chance(1000));
        memcpy(rank->lines[rank->lines_count++], to, 3);
    } else {
        len = sprintf(to, "\r%03u", chance(1000));
        memcpy(rank->lines[rank->lines_count], to + 1, 3);
        rank->is_open = true;
    }
    rank->said_bytes += (size_t)len;
}

/* True when this place is within a line that is no bar. */
static bool is_in_line(const struct rank *rank, size_t at)
{
    size_t start = at;

    while (start > 0 && rank->said[start - 1] != '\n')
        start--;
    return start < at && rank->said[start] != '\r';
}

/* Sends some of what the rank has said, and never a prompt. */
static void speak(struct console_rig *rig, struct rank *ranks, uint32_t number,
                  bool is_all, bool is_end)
{
    struct rank *rank = &ranks[number];
    size_t len = rank->said_bytes - rank->sent_bytes;

    if (!is_all && len > 0)
        len -= chance((uint32_t)len);
    while (rank->sent_bytes + len < rank->said_bytes &&
           is_in_line(rank, rank->sent_bytes + len))
        len++;
    rig_send(rig, number, (uint8_t)(1 + number % 2),
             rank->said + rank->sent_bytes, len, is_end);
    rank->sent_bytes += len;
}

static void disturb(struct console_rig *rig)
{
    switch (chance(8)) {
    case 0:
        (void)ep_console_pause(rig->con);
        break;
    case 1:
        (void)ep_console_hold(rig->con, true);
        break;
    case 2:
        (void)ep_console_status(rig->con, "status");
        break;
    case 3:
        (void)ep_console_status(rig->con, NULL);
        break;
    default:
        ep_console_resume(rig->con);
        (void)ep_console_hold(rig->con, false);
        break;
    }
}

/* Each line of the screen is the next one of its rank. */
static void check_screen(const struct screen *screen, struct rank *ranks)
{
    int next[RANKS] = {0};

    for (int i = 0; i < screen->line; i++) {
        char want[32];
        const int number = atoi(screen->lines[i]);

        assert_in_range(number, 0, RANKS - 1);
        assert_true(next[number] < ranks[number].lines_count);
        snprintf(want, sizeof(want), "%02d: %s", number,
                 ranks[number].lines[next[number]++]);
        assert_string_equal(screen->lines[i], want);
    }
    assert_int_equal(screen->lines[screen->line][0], '\0');
    for (int i = 0; i < RANKS; i++)
        assert_int_equal(next[i], ranks[i].lines_count);
}

static void play(struct console_rig *rig, struct screen *screen,
                 struct rank *ranks, uint32_t count)
{
    for (int i = 0; i < STEPS; i++) {
        const uint32_t number = chance(count);

        think(&ranks[number]);
        if (chance(2))
            speak(rig, ranks, number, false, false);
        if (chance(16) == 0)
            disturb(rig);
        if (chance(4) == 0)
            rig_pass(rig, chance(150));
        event_base_loop(rig->base, EVLOOP_NONBLOCK);
        read_all(rig, screen);
    }
    ep_console_resume(rig->con);
    (void)ep_console_hold(rig->con, false);
    for (uint32_t i = 0; i < count; i++) {
        speak(rig, ranks, i, true, i % 3 > 0); /* some never end */
        ranks[i].lines_count += ranks[i].is_open;
    }
}

static void lines_are_whole_and_rows_are_gone(void **state)
{
    static struct screen screen;
    static struct rank ranks[RANKS];

    (void)state;
    for (uint32_t first = 1; first <= SEEDS; first++) {
        struct console_rig rig;
        unsigned before;

        dice = chance_start(first);
        memset(&screen, 0, sizeof(screen));
        memset(ranks, 0, sizeof(ranks));
        rig_prepare(&rig);
        rig.is_one_file = true;
        rig.cfg.is_prompting = true;
        rig.cfg.style.label = TEXT_LABEL_RANK;
        rig.cfg.style.rank_digits = 2;
        rig.cfg.bar_channels =
            1u << TEXT_CHANNEL_STDOUT | 1u << TEXT_CHANNEL_STDERR;
        rig_open(&rig);
        fcntl(rig.out_fd, F_SETFL, O_NONBLOCK);
        play(&rig, &screen, ranks, first % 2 ? 4 : RANKS);
        before = rig.drained;
        ep_console_finish(rig.con);
        rig_run_until(rig.base, &rig.drained, before + 1);
        ep_console_settle(rig.con);
        read_all(&rig, &screen);
        check_screen(&screen, ranks);
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_whole_and_rows_are_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
