/* Runs a fuzz target without libFuzzer: its seeds as they are, then a bounded
 * number of mutations of them. The same seed gives the same runs.
 *
 * usage: fuzz_NOUN            seeds from $top_srcdir/tests/fuzz/corpus/NOUN
 *        fuzz_NOUN FILE...    each file once, to look at a find
 *
 * Environment: XYLEM_FUZZ_SEED (1), XYLEM_FUZZ_RUNS (100000),
 * XYLEM_FUZZ_SECONDS (1): it stops at whichever comes first.
 *
 * The runs happen in a child. When it dies, its last input is written to
 * found-NOUN in the working directory.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    INPUT_MAX = 65536, /* bytes of one input */
    GROWTH_MAX = 4096, /* the most bytes that mutations add to a small input */
    RUNS_DEFAULT = 100000,
    SECONDS_DEFAULT = 1,
    RUNS_PER_LOOK = 64, /* how many runs come between two looks at the clock */
    MUTATIONS_MAX = 6,  /* the most mutations of one input */
    HANG_S = 20
};

struct input {
    size_t len_bytes;
    uint8_t mem[INPUT_MAX];
};

struct seeds {
    struct input **items; /* owned */
    size_t count;
};

static uint64_t chance;

static uint32_t draw(uint32_t below)
{
    uint64_t mixed;

    chance += 0x9E3779B97F4A7C15u;
    mixed = chance;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)((mixed ^ mixed >> 31) % below);
}

static size_t draw_at(const struct input *in)
{
    return in->len_bytes == 0 ? 0 : draw((uint32_t)in->len_bytes);
}

/* --- mutations --- */

static void flip_bit(struct input *in)
{
    if (in->len_bytes > 0)
        in->mem[draw_at(in)] ^= (uint8_t)(1u << draw(8));
}

static void set_byte(struct input *in)
{
    static const uint8_t special[] = {0,   1,   2,   0x7F, 0x80, 0xFF,
                                      ' ', '%', '-', '\n', '0',  '['};

    if (in->len_bytes > 0)
        in->mem[draw_at(in)] =
            draw(2) ? special[draw(sizeof(special))] : (uint8_t)draw(256);
}

/* Writes a boundary value as an integer of 2, 4 or 8 little-endian bytes. */
static void set_integer(struct input *in)
{
    static const uint64_t special[] = {0,
                                       1,
                                       2,
                                       0xFF,
                                       0x7FFF,
                                       0xFFFF,
                                       0x10000,
                                       0x7FFFFFFF,
                                       0x80000000,
                                       0xFFFFFFFE,
                                       0xFFFFFFFF,
                                       UINT64_MAX,
                                       UINT64_MAX - 1,
                                       INT64_MAX};
    size_t width = (size_t)2 << draw(3), at;
    uint64_t value = special[draw(sizeof(special) / sizeof(special[0]))];

    if (in->len_bytes < width)
        return;
    at = draw((uint32_t)(in->len_bytes - width + 1));
    if (draw(4) == 0)
        value = in->len_bytes - draw((uint32_t)in->len_bytes + 1);
    for (size_t i = 0; i < width; i++)
        in->mem[at + i] = (uint8_t)(value >> 8 * i);
}

/* Replaces a decimal number in a text by another number. */
static void set_number(struct input *in)
{
    static const char *const special[] = {
        "0",          "1",          "00",         "65536",
        "4294967294", "4294967295", "4294967296", "99999999999999999999"};
    const char *text = special[draw(sizeof(special) / sizeof(special[0]))];
    size_t at = draw_at(in), end, len_bytes = strlen(text);

    while (at < in->len_bytes && (in->mem[at] < '0' || in->mem[at] > '9'))
        at++;
    for (end = at;
         end < in->len_bytes && in->mem[end] >= '0' && in->mem[end] <= '9';)
        end++;
    if (at == end || in->len_bytes + len_bytes > INPUT_MAX)
        return;
    memmove(in->mem + at + len_bytes, in->mem + end, in->len_bytes - end);
    memcpy(in->mem + at, text, len_bytes);
    in->len_bytes = in->len_bytes - (end - at) + len_bytes;
}

static void cut_out(struct input *in)
{
    size_t at = draw_at(in), len_bytes;

    if (in->len_bytes == 0)
        return;
    len_bytes = 1 + draw((uint32_t)(in->len_bytes - at));
    memmove(in->mem + at, in->mem + at + len_bytes,
            in->len_bytes - at - len_bytes);
    in->len_bytes -= len_bytes;
}

static void cut_end(struct input *in)
{
    in->len_bytes = draw_at(in);
}

/* Inserts a piece of `from`, which may be the input itself, at a random
 * place. */
static void put_piece(struct input *in, const struct input *from)
{
    static uint8_t piece[GROWTH_MAX];
    size_t start = draw_at(from), at = draw((uint32_t)in->len_bytes + 1);
    size_t len_bytes = from->len_bytes - start;

    if (len_bytes > sizeof(piece))
        len_bytes = sizeof(piece);
    if (len_bytes > 0)
        len_bytes = 1 + draw((uint32_t)len_bytes);
    if (in->len_bytes + len_bytes > INPUT_MAX)
        return;
    memcpy(piece, from->mem + start, len_bytes);
    memmove(in->mem + at + len_bytes, in->mem + at, in->len_bytes - at);
    memcpy(in->mem + at, piece, len_bytes);
    in->len_bytes += len_bytes;
}

static void put_noise(struct input *in)
{
    struct input noise;

    noise.len_bytes = 1 + draw(16);
    for (size_t i = 0; i < noise.len_bytes; i++)
        noise.mem[i] = (uint8_t)draw(256);
    put_piece(in, &noise);
}

static void mutate(struct input *in, const struct seeds *seeds)
{
    switch (draw(9)) {
    case 0:
        flip_bit(in);
        break;
    case 1:
        set_byte(in);
        break;
    case 2:
        set_integer(in);
        break;
    case 3:
        set_number(in);
        break;
    case 4:
        cut_out(in);
        break;
    case 5:
        cut_end(in);
        break;
    case 6:
        put_piece(in, in);
        break;
    case 7:
        put_piece(in, seeds->items[draw((uint32_t)seeds->count)]);
        break;
    default:
        put_noise(in);
    }
}

/* --- seeds --- */

static _Noreturn void die(const char *what, const char *which)
{
    fprintf(stderr, "fuzz: %s %s\n", what, which);
    exit(1);
}

static struct input *load(const char *path)
{
    struct input *in = malloc(sizeof(*in));
    FILE *file = fopen(path, "rb");

    if (in == NULL || file == NULL)
        die("cannot read", path);
    in->len_bytes = fread(in->mem, 1, sizeof(in->mem), file);
    fclose(file);
    return in;
}

static int is_seed(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Loads the seeds in the order of their names, so that runs repeat on every
 * machine. */
static struct seeds load_seeds(const char *folder)
{
    struct dirent **entries;
    struct seeds seeds = {.items = NULL};
    int count = scandir(folder, &entries, is_seed, alphasort);

    if (count <= 0)
        die("no seeds in", folder);
    seeds.items = calloc((size_t)count, sizeof(struct input *));
    if (seeds.items == NULL)
        die("no memory for", folder);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name) >=
            PATH_MAX)
            die("too long a path:", folder);
        seeds.items[seeds.count++] = load(path);
        free(entries[i]);
    }
    free(entries);
    return seeds;
}

static void free_seeds(struct seeds *seeds)
{
    for (size_t i = 0; i < seeds->count; i++)
        free(seeds->items[i]);
    free(seeds->items);
}

/* --- runs --- */

/* Runs the target on a copy that is exactly as long as the input, so that a
 * sanitizer reports a read of one byte too many. */
static void run(const struct input *in)
{
    uint8_t *mem = malloc(in->len_bytes > 0 ? in->len_bytes : 1);

    if (mem == NULL)
        die("no memory for", "an input");
    memcpy(mem, in->mem, in->len_bytes);
    alarm(HANG_S);
    (void)LLVMFuzzerTestOneInput(mem, in->len_bytes);
    free(mem);
}

static uint64_t setting(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);

    return text == NULL || *text == '\0' ? fallback : strtoull(text, NULL, 10);
}

static void copy(struct input *to, const struct input *from)
{
    to->len_bytes = from->len_bytes;
    memcpy(to->mem, from->mem, from->len_bytes);
}

static time_t now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static void run_all(const struct seeds *seeds, uint64_t seed, uint64_t runs,
                    struct input *last)
{
    time_t end_s =
        now_s() + (time_t)setting("XYLEM_FUZZ_SECONDS", SECONDS_DEFAULT);
    uint64_t i;

    for (i = 0; i < runs; i++) {
        if (i >= seeds->count && i % RUNS_PER_LOOK == 0 && now_s() > end_s)
            break;
        chance = seed ^ i << 32;
        copy(last,
             seeds->items[i < seeds->count ? i : draw((uint32_t)seeds->count)]);
        for (uint32_t n = i < seeds->count ? 0 : 1 + draw(MUTATIONS_MAX); n > 0;
             n--)
            mutate(last, seeds);
        run(last);
    }
    alarm(0);
    printf("%" PRIu64 " runs done\n", i);
}

static void save(const char *noun, const struct input *last)
{
    char path[PATH_MAX];
    FILE *file;

    snprintf(path, sizeof(path), "found-%s", noun);
    file = fopen(path, "wb");
    if (file == NULL ||
        fwrite(last->mem, 1, last->len_bytes, file) != last->len_bytes ||
        fclose(file) != 0)
        die("cannot write", path);
    fprintf(stderr, "fuzz %s: %zu bytes in %s: run fuzz_%s with this file\n",
            noun, last->len_bytes, path, noun);
}

/* Runs all seeds and mutations. Returns the exit status. */
static int fuzz(const char *noun)
{
    uint64_t seed = setting("XYLEM_FUZZ_SEED", 1);
    uint64_t runs = setting("XYLEM_FUZZ_RUNS", RUNS_DEFAULT);
    const char *top = getenv("top_srcdir");
    struct input *last = mmap(NULL, sizeof(*last), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char folder[PATH_MAX];
    struct seeds seeds;
    int status = 0;
    pid_t pid;

    if (last == MAP_FAILED)
        die("no memory for", noun);
    if (snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s",
                 top != NULL ? top : ".", noun) >= PATH_MAX)
        die("too long a path:", top);
    seeds = load_seeds(folder);
    printf("fuzz %s: seed %" PRIu64 ", at most %" PRIu64
           " runs from %zu seeds\n",
           noun, seed, runs, seeds.count);
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        run_all(&seeds, seed, runs, last);
    free_seeds(&seeds);
    if (pid == 0)
        exit(0);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        die("cannot watch", noun);
    if (status != 0)
        save(noun, last);
    munmap(last, sizeof(*last));
    return status != 0;
}

int main(int argc, char **argv)
{
    const char *name = strstr(argv[0], "fuzz_");

    for (const char *more = name; more != NULL;
         more = strstr(more + 1, "fuzz_"))
        name = more;
    if (name == NULL)
        die("a target is called fuzz_NOUN, not", argv[0]);
    for (int i = 1; i < argc; i++) {
        struct input *in = load(argv[i]);

        run(in);
        free(in);
    }
    return argc > 1 ? 0 : fuzz(name + strlen("fuzz_"));
}
