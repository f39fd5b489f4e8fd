/* Keeps the words that nodes report until they are sent, and reads them from
 * frames. */
#include "sim/word.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "sim/buffer.h"

/* The words of a node that are not yet sent. */
struct sim_words {
    uint64_t *at; /* owned: words, as encoded in an extent's offset */
    uint32_t count, cap;
    uint16_t begun, active; /* how many jobs have begun on the node, and how
                               many are not over */
};

enum {
    WORDS_MAX = 256, /* at most this many words in a record */
    STATUS_SHIFT = 32,
    KIND_SHIFT = 48,
    VALUE_BYTES = 7, /* those of a word that are not 0 */
};

int sim_word_open(struct sim_world *w)
{
    if (!w->cfg.job.has_words)
        return 0;
    w->words = calloc(sim_nodes(w), sizeof(*w->words));
    return w->words == NULL ? OV_ENOMEM : 0;
}

void sim_word_close(struct sim_world *w)
{
    for (uint32_t n = 0; w->words != NULL && n < sim_nodes(w); n++)
        free(w->words[n].at);
    free(w->words);
}

/* --- words that wait */

void sim_word_push(struct sim_world *w, uint32_t n, struct sim_word word)
{
    struct sim_words *words = &w->words[n];

    if (words->count == words->cap) {
        words->cap = 2 * words->cap + 4;
        words->at = realloc(words->at, words->cap * sizeof(*words->at));
        OV_ASSERT(words->at != NULL);
    }
    words->at[words->count++] = (uint64_t)word.kind << KIND_SHIFT |
                                (uint64_t)word.status << STATUS_SHIFT |
                                word.number;
}

void sim_word_begin(struct sim_world *w, uint32_t n)
{
    w->words[n].begun++;
    w->words[n].active++;
}

void sim_word_end(struct sim_world *w, uint32_t n)
{
    struct sim_words *words = &w->words[n];

    if (--words->active == 0)
        sim_word_push(
            w, n,
            (struct sim_word){.kind = JOB_WORD_OVER, .number = words->begun});
}

/* --- sending words */

static unsigned kind_of(uint64_t word)
{
    return (unsigned)(word >> KIND_SHIFT);
}

/* The length that such a word has about in a real record, of a process that has
 * written to one channel, or of one step that has failed. */
static uint32_t bytes_of(uint64_t word)
{
    static const uint8_t bytes[JOB_WORD_KINDS] = {
        [JOB_WORD_STARTED] = 19,
        [JOB_WORD_EXIT] = 60,
        [JOB_WORD_FAILED] = 18,
        [JOB_WORD_OVER] = 7,
    };

    return bytes[kind_of(word)];
}

static uint32_t words_that_fit(const struct sim_words *words,
                               uint32_t max_bytes)
{
    uint32_t count = 0, bytes = 0;

    while (count < words->count && count < WORDS_MAX) {
        bytes += bytes_of(words->at[count]);
        if (bytes > max_bytes ||
            (count > 0 && kind_of(words->at[count]) == JOB_WORD_OVER))
            break;
        count++;
    }
    return count;
}

static struct sim_load *
name_words(struct sim_world *w, const struct sim_words *words, uint32_t count)
{
    struct sim_load *load = sim_load_new(&w->store, 0, (uint16_t)count);

    for (uint32_t i = 0; i < count; i++)
        sim_load_add(load, (struct sim_extent){words->at[i], SIM_KEY_WORD,
                                               bytes_of(words->at[i])});
    return load;
}

/* Makes a load of real bytes, as all that goes up has where lines are folded. A
 * word has its value in front, and is as long as otherwise. */
static struct sim_load *
write_words(struct sim_world *w, const struct sim_words *words, uint32_t count)
{
    uint32_t len_bytes = 0;
    struct sim_load *load;

    for (uint32_t i = 0; i < count; i++)
        len_bytes += bytes_of(words->at[i]);
    load = sim_load_new(&w->store, len_bytes, 0);
    memset(load->head, 0, len_bytes);
    for (uint32_t i = 0; i < count; i++) {
        struct ov_wr wr =
            ov_wr_init(load->head + load->head_bytes, VALUE_BYTES);

        ov_wr_uint(&wr, words->at[i], VALUE_BYTES);
        load->head_bytes += bytes_of(words->at[i]);
    }
    load->len_bytes = load->head_bytes;
    return load;
}

void sim_word_read(struct sim_world *w, uint32_t n, uint32_t max_bytes,
                   struct ov_read *read)
{
    struct sim_words *words = &w->words[n];
    uint32_t count = words_that_fit(words, max_bytes);
    struct sim_load *load;

    if (count == 0)
        return;
    load = w->cfg.overlay.folds ? write_words(w, words, count)
                                : name_words(w, words, count);
    read->buf = &sim_buffer_own(w, n, load)->buf;
    read->len_bytes = load->len_bytes;
    words->count -= count;
    for (uint32_t i = 0; i < words->count; i++)
        words->at[i] = words->at[count + i];
    read->state = words->count > 0 ? OV_INPUT_MORE : OV_INPUT_IDLE;
}

/* --- receiving words */

static struct sim_word word_of(uint64_t value)
{
    return (struct sim_word){.kind = (uint8_t)kind_of(value),
                             .status = (uint16_t)(value >> STATUS_SHIFT),
                             .number = (uint32_t)value};
}

/* Reads a word of real bytes. */
static bool read_word(const struct ov_slice *slice, uint32_t *at_bytes,
                      struct sim_word *out)
{
    uint32_t left = slice->len_bytes - *at_bytes;
    struct ov_rd rd =
        ov_rd_init(slice->buf->mem + slice->off_bytes + *at_bytes, left);
    uint64_t value = ov_rd_uint(&rd, VALUE_BYTES);

    if (rd.bad || kind_of(value) >= JOB_WORD_KINDS || bytes_of(value) == 0 ||
        bytes_of(value) > left)
        return false;
    *at_bytes += bytes_of(value);
    *out = word_of(value);
    return true;
}

bool sim_word_next(const struct ov_slice *slice, uint32_t *at_bytes,
                   struct sim_word *out)
{
    const struct sim_load *load = sim_view_of(slice->buf)->load;
    uint32_t skip = slice->off_bytes + *at_bytes - load->head_bytes;

    if (*at_bytes >= slice->len_bytes)
        return false;
    if (slice->off_bytes < load->head_bytes)
        return read_word(slice, at_bytes, out);
    for (uint16_t i = 0; i < load->extents; i++) {
        const struct sim_extent *part = &load->extent[i];

        if (skip >= part->len_bytes) {
            skip -= part->len_bytes;
            continue;
        }
        if (skip > 0 || part->key != SIM_KEY_WORD ||
            part->len_bytes != bytes_of(part->offset))
            return false;
        *at_bytes += part->len_bytes;
        *out = word_of(part->offset);
        return true;
    }
    return false;
}
