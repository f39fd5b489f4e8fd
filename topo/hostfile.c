/* Host files: one host per line. */
#include "topo/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "overlay/base/err.h"

/* The longest line, with its end, in bytes; and how many bytes of a path or
 * word a message shows. */
enum { LINE_BYTES_MAX = 16384, SHOWN_MAX = 120 };

static const char blanks[] = " \t\r\n\v\f";

/* Returns the next word from *at on, and moves *at past it; NULL when there is
 * no further word. */
static const char *next_word(const char **at, size_t *len_bytes)
{
    const char *word = *at + strspn(*at, blanks);

    *len_bytes = strcspn(word, blanks);
    *at = word + *len_bytes;
    return *len_bytes == 0 ? NULL : word;
}

/* The N of "slots=N"; 0 for any other word. */
static uint32_t slots_of(const char *word, size_t len_bytes)
{
    static const char key[] = "slots=";
    uint32_t value = 0;

    if (len_bytes <= strlen(key) || memcmp(word, key, strlen(key)) != 0)
        return 0;
    for (size_t i = strlen(key); i < len_bytes; i++) {
        if (word[i] < '0' || word[i] > '9')
            return 0;
        value = value * 10 + (uint32_t)(word[i] - '0');
        if (value > TOPO_SLOTS_MAX)
            return 0;
    }
    return value;
}

/* Reads one line whose comment was removed. */
static int read_line(struct topo_hosts *hosts, const char *line, char *why)
{
    size_t host_len = 0;
    size_t len = 0;
    uint32_t slots = 0;
    const char *host = next_word(&line, &host_len);

    if (host == NULL)
        return 0;

    const char *word = next_word(&line, &len);

    if (word != NULL) {
        slots = slots_of(word, len);
        if (slots == 0 || next_word(&line, &len) != NULL) {
            topo_why(why,
                     "\"%.*s\" is not understood (a line is HOST or HOST "
                     "slots=N, with N from 1 to 1000000)",
                     SHOWN_MAX, word);
            return OV_EINVAL;
        }
        if (memchr(host, ':', host_len) != NULL) {
            topo_why(why,
                     "slots are given twice (write HOST slots=N or HOST:N)");
            return OV_EINVAL;
        }
    }
    return topo_hosts_add_text(hosts, host, host_len, slots, why);
}

/* Reads the next line without its end and without a comment; *is_over becomes
 * true at the end of the file. */
static int next_line(FILE *in, char *line, bool *is_over, char *why)
{
    *is_over = fgets(line, LINE_BYTES_MAX, in) == NULL;
    if (*is_over && ferror(in)) {
        topo_why(why, "cannot be read: %s", strerror(errno));
        return OV_ESYS;
    }
    if (*is_over)
        return 0;

    size_t len = strlen(line);

    if ((len == 0 || line[len - 1] != '\n') && !feof(in)) {
        topo_why(why,
                 "this is not a line of text (or it has more than %d bytes)",
                 LINE_BYTES_MAX - 2);
        return OV_EINVAL;
    }
    line[strcspn(line, "#\n")] = '\0';
    return 0;
}

static int read_lines(struct topo_hosts *hosts, FILE *in, const char *path,
                      char *why)
{
    char line[LINE_BYTES_MAX];
    char what[TOPO_WHY_MAX];
    size_t path_len = strlen(path);
    size_t hidden = path_len > SHOWN_MAX ? path_len - SHOWN_MAX : 0;
    bool is_over = false;
    int rc = 0;

    for (unsigned long number = 1; rc == 0 && !is_over; number++) {
        rc = next_line(in, line, &is_over, what);
        if (rc == 0 && !is_over)
            rc = read_line(hosts, line, what);
        if (rc != 0)
            topo_why(why, "%s%s:%lu: %s", hidden > 0 ? "..." : "",
                     path + hidden, number, what);
    }
    if (rc == 0 && hosts->count == 0) {
        topo_why(why, "%s%s names no host (write one per line)",
                 hidden > 0 ? "..." : "", path + hidden);
        rc = OV_EINVAL;
    }
    return rc;
}

int topo_hosts_read_from(struct topo_hosts *hosts, FILE *in, const char *name,
                         char *why)
{
    int rc;

    topo_hosts_init(hosts);
    rc = read_lines(hosts, in, name, why);
    if (rc != 0)
        topo_hosts_fini(hosts);
    return rc;
}

int topo_hosts_read(struct topo_hosts *hosts, const char *path, char *why)
{
    FILE *in = fopen(path, "re");

    topo_hosts_init(hosts);
    if (in == NULL) {
        int rc = errno == ENOENT ? OV_ENOENT : OV_ESYS;

        topo_why(why, "the host file %s cannot be opened: %s", path,
                 strerror(errno));
        return rc;
    }

    int rc = topo_hosts_read_from(hosts, in, path, why);

    fclose(in);
    return rc;
}
