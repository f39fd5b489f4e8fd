/* Asks sessions for their jobs. */
#include "commands/ps/listing.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "endpoints/client/sessions.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

static uint8_t packet[JOB_DOOR_BYTES_MAX];

/* Adds a row of this kind. Returns NULL when memory is out. */
static struct ps_row *add_row(struct ps_listing *listing, pid_t pid,
                              enum ps_kind kind, const char *name,
                              const char *text)
{
    struct ps_row *rows =
        realloc(listing->rows, (listing->count + 1) * sizeof(*rows));
    struct ps_row *row;

    if (rows == NULL)
        return NULL;
    listing->rows = rows;
    row = &rows[listing->count++];
    *row = (struct ps_row){.pid = pid, .kind = kind};
    snprintf(row->job, sizeof(row->job), "%s", name);
    snprintf(row->text, sizeof(row->text), "%s", text);
    return row;
}

static int add_job(struct ps_listing *listing, pid_t pid,
                   const struct job_door *job)
{
    struct ps_row *row = add_row(listing, pid, job->is_dvm ? PS_DVM : PS_JOB,
                                 job->row.name, job->text);

    if (row == NULL)
        return OV_ENOMEM;
    row->base = job->first;
    row->processes = job->count;
    row->left = job->row.left;
    row->hosts_count = job->row.hosts;
    row->age_s = job->row.age_s;
    row->output_bytes = job->row.output_bytes;
    row->stdin_bytes = job->row.stdin_bytes;
    row->quiet_s = job->row.quiet_s;
    row->waiting_bytes = job->row.waiting_bytes < row->stdin_bytes
                             ? job->row.waiting_bytes
                             : row->stdin_bytes;
    snprintf(row->hosts, sizeof(row->hosts), "%s", job->host);
    return 0;
}

/* Asks a question and waits until end_ms. What the answer borrows is valid
 * until the next call. Returns the value of ep_session_receive(). */
static int ask(const struct ep_session *session, enum job_door_kind kind,
               uint32_t base, int64_t end_ms, struct job_door *answer)
{
    const struct job_door asked = {.kind = (uint8_t)kind, .base = base};
    const int64_t left_ms = end_ms - ep_clock_ms();
    uint32_t len_bytes;
    int rc;

    if (ep_session_say(session, &asked) != 0)
        return OV_ECLOSED;
    rc = ep_session_receive(session, left_ms > 0 ? (int)left_ms : 0, packet,
                            &len_bytes);
    return rc != 0 ? rc
                   : job_door_decode(ov_rd_init(packet, len_bytes), answer);
}

/* Asks what the processes of the last added job are doing. A job that is over
 * by now gets no groups. Returns 0 or OV_ENOMEM. */
static int add_groups(const struct ps_listing *listing,
                      const struct ep_session *session, int64_t end_ms)
{
    static const struct timespec pause = {.tv_nsec = 50000000};
    struct ps_row *row = &listing->rows[listing->count - 1];
    struct job_door answer = {.is_more = true};

    while (row->kind == PS_JOB && answer.is_more) {
        if (ask(session, JOB_DOOR_GROUPS, row->base, end_ms, &answer) != 0 ||
            answer.kind != JOB_DOOR_GROUPED)
            return 0;
        if (answer.is_more)
            nanosleep(&pause, NULL);
    }
    if (row->kind != PS_JOB)
        return 0;
    row->groups =
        strndup((const char *)answer.rest.at, ov_rd_left(&answer.rest));
    return row->groups != NULL ? 0 : OV_ENOMEM;
}

/* Adds the row of a session that has not said which jobs it has. */
static int add_other(struct ps_listing *listing,
                     const struct ep_session *session, enum ps_kind kind,
                     const struct job_door *answer)
{
    const bool is_known = session->answer.kind == JOB_DOOR_WELCOME;

    return add_row(listing, session->number, kind,
                   is_known ? session->answer.text : "",
                   kind == PS_REFUSED ? answer->text : "") != NULL
               ? 0
               : OV_ENOMEM;
}

/* Adds rows for all jobs of a session. */
static int add_jobs(struct ps_listing *listing,
                    const struct ep_session *session, bool with_groups)
{
    const int64_t end_ms = ep_clock_ms() + PS_WAIT_MS;
    uint32_t base = 0, count = 0;

    for (;;) {
        struct job_door answer;
        int rc = ask(session, JOB_DOOR_LIST, base, end_ms, &answer);

        if (rc == OV_ECLOSED)
            return 0;
        if (rc == 0 && answer.kind == JOB_DOOR_REFUSED)
            return add_other(listing, session, PS_REFUSED, &answer);
        if (rc != 0 || answer.kind != JOB_DOOR_LISTED)
            return add_other(listing, session, PS_SILENT, &answer);
        if (answer.is_over && count == 0)
            return add_other(listing, session, PS_IDLE, &answer);
        if (answer.is_over)
            return 0;
        rc = add_job(listing, session->number, &answer);
        if (rc != 0 || answer.count == 0 || answer.first < base ||
            answer.first > UINT32_MAX - answer.count)
            return rc;
        base = answer.first + answer.count;
        if (with_groups && add_groups(listing, session, end_ms) != 0)
            return OV_ENOMEM;
        count++;
    }
}

static int add_session(struct ps_listing *listing,
                       const struct ep_session *session, bool with_groups)
{
    if (session->answer.kind == 0)
        return add_other(listing, session, PS_SILENT, NULL);
    if (session->answer.kind != JOB_DOOR_WELCOME)
        return add_other(listing, session, PS_REFUSED, &session->answer);
    return add_jobs(listing, session, with_groups);
}

static int compare(const void *a, const void *b)
{
    const struct ps_row *one = a, *two = b;

    if (one->pid != two->pid)
        return one->pid < two->pid ? -1 : 1;
    return (one->base > two->base) - (one->base < two->base);
}

int ps_listing_open(const struct ep_sessions *sessions, bool with_groups,
                    struct ps_listing *out)
{
    int rc = 0;

    *out = (struct ps_listing){.count = 0};
    for (unsigned i = 0; rc == 0 && i < sessions->count; i++)
        rc = add_session(out, &sessions->at[i], with_groups);
    if (out->count > 0)
        qsort(out->rows, out->count, sizeof(*out->rows), compare);
    return rc;
}

/* --- selecting a single job */

/* Finds the row of a name; NULL: there is none. */
static const struct ps_row *find_row(const struct ps_listing *listing,
                                     const char *name)
{
    for (size_t i = 0; i < listing->count; i++) {
        if (strcmp(listing->rows[i].job, name) == 0)
            return &listing->rows[i];
    }
    return NULL;
}

bool ps_listing_keep(struct ps_listing *listing, const char *name)
{
    const struct ps_row *found = find_row(listing, name);
    struct ps_row meant;
    size_t count = 0;

    if (found == NULL)
        return false;
    meant = *found;
    for (size_t i = 0; i < listing->count; i++) {
        struct ps_row *row = &listing->rows[i];

        if (row->pid == meant.pid &&
            (meant.kind == PS_DVM || row->base == meant.base))
            listing->rows[count++] = *row;
        else
            free(row->groups);
    }
    listing->count = count;
    return true;
}

void ps_listing_close(struct ps_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        free(listing->rows[i].groups);
    free(listing->rows);
    *listing = (struct ps_listing){.count = 0};
}
