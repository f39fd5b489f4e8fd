/* A copy of what was redirected to a tool, until that has it. */
#include "pmix_api/journal.h"

#include <string.h>

#include "overlay/base/err.h"

/* Before the bytes, of this machine. */
struct head {
    uint64_t at;
    uint32_t rank;
    uint16_t channel, is_end;
};

enum { HEAD_BYTES = sizeof(struct head) };

int px_journal_open(struct px_journal *journal, uint64_t mem_bytes,
                    uint64_t file_bytes, const char *dir)
{
    int rc;

    *journal = (struct px_journal){.unkept_bytes = 0};
    rc = px_spool_open(&journal->spool, mem_bytes, file_bytes, dir);
    if (rc != 0)
        px_spool_close(&journal->spool);
    return rc;
}

void px_journal_close(struct px_journal *journal)
{
    if (journal->spool.mem != NULL)
        px_spool_close(&journal->spool);
}

bool px_journal_keep(struct px_journal *journal, uint64_t at,
                     const struct px_output *output)
{
    const struct head head = {.at = at,
                              .rank = output->rank,
                              .channel = output->channel,
                              .is_end = output->is_end};

    if (px_spool_put(&journal->spool, &head, sizeof(head), output->mem,
                     output->len_bytes) == 0) {
        journal->left_bytes += output->len_bytes;
        return true;
    }
    journal->unkept_bytes += output->len_bytes;
    journal->unkept_end = at + output->len_bytes;
    return false;
}

static struct px_journal_entry entry_of(const struct head *head, int len)
{
    return (struct px_journal_entry){.at = head->at,
                                     .rank = head->rank,
                                     .channel = (uint8_t)head->channel,
                                     .is_end = head->is_end != 0,
                                     .len_bytes = (uint32_t)len - HEAD_BYTES};
}

/* A file that cannot be read leaves nothing. */
static void note_gone(struct px_journal *journal, uint32_t len_bytes)
{
    uint64_t left = journal->left_bytes - len_bytes;

    if (px_spool_is_empty(&journal->spool) && left > 0) {
        journal->unkept_bytes += left;
        journal->unkept_end = UINT64_MAX;
        left = 0;
    }
    journal->left_bytes = left;
}

bool px_journal_peek(struct px_journal *journal, struct px_journal_entry *entry)
{
    struct head head;
    int len = px_spool_peek(&journal->spool, &head, sizeof(head));

    if (len > 0)
        *entry = entry_of(&head, len);
    else
        note_gone(journal, 0);
    return len > 0;
}

void px_journal_skip(struct px_journal *journal)
{
    struct px_journal_entry first;

    if (!px_journal_peek(journal, &first))
        return;
    px_spool_skip(&journal->spool);
    note_gone(journal, first.len_bytes);
}

void px_journal_settle(struct px_journal *journal, uint64_t position)
{
    struct px_journal_entry first;

    if (journal->unkept_end <= position)
        journal->unkept_bytes = 0;
    while (px_journal_peek(journal, &first) &&
           first.at + first.len_bytes <= position)
        px_journal_skip(journal);
}

bool px_journal_take(struct px_journal *journal, struct px_journal_entry *entry,
                     uint8_t *mem)
{
    uint8_t packet[HEAD_BYTES + PX_OUTPUT_BYTES_MAX];
    int len = px_spool_get(&journal->spool, packet, sizeof(packet));
    struct head head;

    if (len < HEAD_BYTES) {
        note_gone(journal, 0);
        return false;
    }
    memcpy(&head, packet, sizeof(head));
    *entry = entry_of(&head, len);
    memcpy(mem, packet + HEAD_BYTES, entry->len_bytes);
    note_gone(journal, entry->len_bytes);
    return true;
}
