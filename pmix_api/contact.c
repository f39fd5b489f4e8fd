/* Reads the text of libpmix's rendezvous files, and makes and removes such
 * files. */
#include "config.h"

#include "pmix_api/contact.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/folder.h"
#include "pmix_api/rendezvous.h"

_Static_assert(PX_CONTACT_ADDRESS_BYTES >= INET6_ADDRSTRLEN, "no room");

enum { MODE = 0640, NAMES = 5, PORT_DIGITS_MAX = 5 };

/* --- the text */

/* A part of the text. */
struct part {
    const char *at;
    size_t len_bytes;
};

static struct part first_line(const char *text, size_t len_bytes)
{
    const char *end = memchr(text, '\n', len_bytes);

    return (struct part){text, end != NULL ? (size_t)(end - text) : len_bytes};
}

/* Splits `from` at the first byte `byte`: *before gets what is before it, *from
 * keeps what follows. False: there is no such byte. */
static bool cut(struct part *from, char byte, struct part *before)
{
    const char *end = memchr(from->at, byte, from->len_bytes);

    if (end == NULL)
        return false;
    *before = (struct part){from->at, (size_t)(end - from->at)};
    from->at = end + 1;
    from->len_bytes -= before->len_bytes + 1;
    return true;
}

/* Splits `from` at the last byte `byte`: *behind gets what follows it, *from
 * keeps what is before. False: there is no such byte. */
static bool cut_last(struct part *from, char byte, struct part *behind)
{
    const char *at = memrchr(from->at, byte, from->len_bytes);

    if (at == NULL)
        return false;
    *behind =
        (struct part){at + 1, from->len_bytes - (size_t)(at + 1 - from->at)};
    from->len_bytes = (size_t)(at - from->at);
    return true;
}

static bool is_number(struct part part)
{
    for (size_t i = 0; i < part.len_bytes; i++) {
        if (part.at[i] < '0' || part.at[i] > '9')
            return false;
    }
    return part.len_bytes > 0;
}

static bool is_name(struct part name)
{
    struct part rank;

    return cut_last(&name, '.', &rank) && name.len_bytes > 0 && is_number(rank);
}

static bool read_port(struct part digits, uint16_t *out)
{
    uint32_t port = 0;

    if (!is_number(digits) || digits.len_bytes > PORT_DIGITS_MAX)
        return false;
    for (size_t i = 0; i < digits.len_bytes; i++)
        port = 10 * port + (uint32_t)(digits.at[i] - '0');
    *out = (uint16_t)port;
    return port > 0 && port <= UINT16_MAX;
}

/* Moves `from` past the mark at its beginning; false: it does not begin with
 * the mark. */
static bool skip(struct part *from, const char *mark)
{
    size_t len = strlen(mark);

    if (from->len_bytes < len || memcmp(from->at, mark, len) != 0)
        return false;
    from->at += len;
    from->len_bytes -= len;
    return true;
}

static struct part without_brackets(struct part part)
{
    if (part.len_bytes >= 2 && part.at[0] == '[' &&
        part.at[part.len_bytes - 1] == ']')
        return (struct part){part.at + 1, part.len_bytes - 2};
    return part;
}

static bool read_address(int family, struct part from, char *out)
{
    struct in6_addr any; /* large enough for IPv4, too */

    if (family == AF_INET6)
        from = without_brackets(from);
    if (from.len_bytes >= PX_CONTACT_ADDRESS_BYTES)
        return false;
    memcpy(out, from.at, from.len_bytes);
    out[from.len_bytes] = '\0';
    return inet_pton(family, out, &any) == 1;
}

static bool read_line(struct part line, struct part *port,
                      struct px_contact *out)
{
    struct part name;
    int family = AF_INET;

    if (!cut(&line, ';', &name) || !is_name(name))
        return false;
    if (!skip(&line, "tcp4://")) {
        family = AF_INET6;
        if (!skip(&line, "tcp6://"))
            return false;
    }
    return cut_last(&line, ':', port) && read_port(*port, &out->port) &&
           read_address(family, line, out->address);
}

int px_contact_parse(const char *text, size_t len_bytes, struct px_contact *out)
{
    struct part port;

    if (len_bytes > PX_CONTACT_BYTES_MAX ||
        memchr(text, '\0', len_bytes) != NULL ||
        !read_line(first_line(text, len_bytes), &port, out))
        return OV_EPROTO;
    out->port_at = (uint32_t)(port.at - text);
    out->port_bytes = (uint32_t)port.len_bytes;
    return 0;
}

/* Appends bytes if they fit; *len_bytes grows in any case, so that the caller
 * sees that it is above the limit. */
static void append(char *out, size_t *len_bytes, const char *mem, size_t count)
{
    if (*len_bytes + count <= PX_CONTACT_BYTES_MAX)
        memcpy(out + *len_bytes, mem, count);
    *len_bytes += count;
}

/* Finds the third line if it is a number: the pid of the server, from which
 * others see whether the server that wrote the file is dead. */
static bool find_pid(struct part rest, struct part *out)
{
    struct part line;

    return cut(&rest, '\n', &line) && cut(&rest, '\n', &line) &&
           cut(&rest, '\n', out) && is_number(*out);
}

int px_contact_move(const char *text, size_t len_bytes,
                    const struct px_contact_move *to, char *out,
                    size_t *out_bytes)
{
    const char *end = text + len_bytes;
    struct px_contact was;
    char port[16], pid[16];
    struct part rest, old;
    size_t len = 0;

    if (px_contact_parse(text, len_bytes, &was) != 0)
        return OV_EPROTO;
    snprintf(port, sizeof(port), "%u", to->port);
    snprintf(pid, sizeof(pid), "%u", to->pid);
    append(out, &len, text, was.port_at);
    append(out, &len, port, strlen(port));
    rest.at = text + was.port_at + was.port_bytes;
    rest.len_bytes = (size_t)(end - rest.at);
    if (to->pid != 0 && find_pid(rest, &old)) {
        append(out, &len, rest.at, (size_t)(old.at - rest.at));
        append(out, &len, pid, strlen(pid));
        rest.at = old.at + old.len_bytes;
    }
    append(out, &len, rest.at, (size_t)(end - rest.at));
    *out_bytes = len;
    return len <= PX_CONTACT_BYTES_MAX ? 0 : OV_EFULL;
}

/* --- the files */

/* Writes the name of the index-th file, in PX_PATH_MAX bytes. False: it is too
 * long. */
static bool name_file(const struct px_contact_names *names, unsigned index,
                      char *out)
{
    char pids[2][16];
    const char *ends[NAMES] = {"", pids[0], names->server, pids[1], names->job};

    snprintf(pids[0], sizeof(pids[0]), "%u", names->server_pid);
    snprintf(pids[1], sizeof(pids[1]), "%u", names->launcher_pid);
    return snprintf(out, PX_PATH_MAX, "%s/pmix.%s.tool%s%s", names->folder,
                    names->host, index > 0 ? "." : "",
                    ends[index]) < PX_PATH_MAX;
}

/* True when the index-th name equals an earlier name, as when the launcher
 * itself is the server. */
static bool is_again(const struct px_contact_names *names, unsigned index)
{
    return (index == 3 && names->server_pid == names->launcher_pid) ||
           (index == 4 && strcmp(names->server, names->job) == 0);
}

/* Removes the files with the first `count` names. */
static void remove_some(const struct px_contact_names *names, unsigned count)
{
    char path[PX_PATH_MAX];

    for (unsigned i = 0; i < count; i++) {
        if (name_file(names, i, path) && !is_again(names, i))
            unlink(path);
    }
}

static int link_all(const struct px_contact_names *names, const char *from)
{
    char path[PX_PATH_MAX];
    int err;

    for (unsigned i = 0; i < NAMES; i++) {
        bool is_named = name_file(names, i, path);

        if (is_named && (is_again(names, i) || link(from, path) == 0))
            continue;
        err = is_named ? errno : ENAMETOOLONG;
        remove_some(names, i);
        errno = err;
        return OV_ESYS;
    }
    return 0;
}

/* Writes the file under a temporary name first, because tools read any file
 * that has one of the names. */
int px_contact_put(const struct px_contact_names *names, const char *text,
                   size_t len_bytes)
{
    char early[PX_PATH_MAX];
    int rc, err;

    if (snprintf(early, sizeof(early), "%s/.contact.XXXXXX", names->folder) >=
        (int)sizeof(early)) {
        errno = ENAMETOOLONG;
        return OV_ESYS;
    }
    rc = px_rendezvous_write(early, text, len_bytes);
    if (rc != 0)
        return rc;
    rc = chmod(early, MODE) == 0 ? link_all(names, early) : OV_ESYS;
    err = errno;
    unlink(early);
    errno = err;
    return rc;
}

void px_contact_remove(const struct px_contact_names *names)
{
    remove_some(names, NAMES);
}
