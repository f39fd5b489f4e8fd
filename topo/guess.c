/* Groups of hosts, guessed from names and addresses.
 *
 * Each host gets a text that names it from the largest part to the smallest:
 * its name with the parts of its domain in reverse order, or its address. The
 * last number in the text is the number of the host in its group; what is
 * before it, up to the number before, names the group.
 */
#include "topo/guess.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

struct text {
    char *at; /* owned */
    uint32_t host;
};

/* --- natural order
 * */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Compares the numbers at *a and *b by value, and moves *a and *b past them. */
static int compare_numbers(const char **a, const char **b)
{
    size_t zeros_a = strspn(*a, "0"), zeros_b = strspn(*b, "0");
    const char *x = *a + zeros_a, *y = *b + zeros_b;
    size_t len = digits(x), other = digits(y);
    int sign = memcmp(x, y, len < other ? len : other);

    *a = x + len;
    *b = y + other;
    return len != other ? (len > other) - (len < other) : sign;
}

int topo_guess_compare(const char *a, const char *b)
{
    const char *whole_a = a, *whole_b = b;

    while (*a != '\0' && *b != '\0') {
        int sign = (unsigned char)*a - (unsigned char)*b;

        if (is_digit(*a) && is_digit(*b)) {
            sign = compare_numbers(&a, &b);
        } else {
            a++;
            b++;
        }
        if (sign != 0)
            return sign;
    }
    if (*a != *b)
        return (unsigned char)*a - (unsigned char)*b;
    return strcmp(whole_a, whole_b);
}

static int compare_texts(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    int sign = topo_guess_compare(x->at, y->at);

    return sign != 0 ? sign : (x->host > y->host) - (x->host < y->host);
}

/* --- texts of hosts */

static bool is_address(const char *name)
{
    struct in_addr address;

    return inet_pton(AF_INET, name, &address) == 1;
}

/* The text of a host name: without user@, with the parts of its domain in
 * reverse order. NULL: out of memory. */
static char *string_of(const char *name)
{
    const char *user = strrchr(name, '@');
    char *text, *to;
    size_t end;

    name = user != NULL ? user + 1 : name;
    if (is_address(name))
        return strdup(name);
    end = strlen(name);
    text = to = malloc(end + 1);
    while (text != NULL) {
        size_t start = end;

        while (start > 0 && name[start - 1] != '.')
            start--;
        memcpy(to, name + start, end - start);
        to += end - start;
        if (start == 0)
            break;
        *to++ = '.';
        end = start - 1;
    }
    if (text != NULL)
        *to = '\0';
    return text;
}

static void texts_free(struct text *texts, uint32_t count)
{
    for (uint32_t i = 0; texts != NULL && i < count; i++)
        free(texts[i].at);
    free(texts);
}

static struct text *texts_new(const struct topo_hosts *hosts, uint32_t count)
{
    struct text *texts = calloc(count, sizeof(*texts));

    for (uint32_t i = 0; texts != NULL && i < count; i++) {
        texts[i] = (struct text){string_of(topo_hosts_name(hosts, i)), i};
        if (texts[i].at == NULL) {
            texts_free(texts, i);
            return NULL;
        }
    }
    return texts;
}

/* How many bytes at the end are the same in all texts; a part of a number is
 * not counted. */
static size_t common_end(const struct text *texts, uint32_t count)
{
    const char *first = texts[0].at;
    size_t len = strlen(first), common = len;

    for (uint32_t i = 1; i < count; i++) {
        const char *text = texts[i].at;
        size_t own = strlen(text), alike = 0;

        while (alike < common && alike < own &&
               first[len - 1 - alike] == text[own - 1 - alike])
            alike++;
        common = alike;
    }
    while (common > 0 && is_digit(first[len - common]))
        common--;
    return count > 1 ? common : 0;
}

/* --- groups
 * */

/* The length of the group's name at the beginning of a text of len bytes: it
 * ends after the last number but one, or before the only number. 0: the text
 * names no group. */
static size_t group_len(const char *text, size_t len)
{
    size_t last, before;

    while (len > 0 && !is_digit(text[len - 1]))
        len--;
    while (len > 0 && is_digit(text[len - 1]))
        len--;
    last = before = len;
    while (before > 0 && !is_digit(text[before - 1]))
        before--;
    if (before > 0)
        return before;
    while (last > 0 && (text[last - 1] == '-' || text[last - 1] == '.' ||
                        text[last - 1] == '_'))
        last--;
    return last;
}

/* Finds the number of a group, and adds the group, and the groups that contain
 * it, if they are new. */
static int add_group(struct topo_fabric *f, const char *name, size_t len,
                     uint32_t *number)
{
    uint32_t above = TOPO_NONE;
    size_t outer = group_len(name, len);
    int rc;

    *number = topo_hosts_find(&f->switches, name, len);
    if (*number != TOPO_NONE)
        return 0;
    rc = outer > 0 ? add_group(f, name, outer, &above) : 0;
    if (rc == 0)
        rc = topo_hosts_add(&f->switches, name, len, 0);
    if (rc != 0)
        return rc;
    *number = f->switches.count - 1;
    if (f->switches.count > f->above_max) {
        uint32_t max = 2 * f->above_max + 64;
        uint32_t *grown = reallocarray(f->above, max, sizeof(*grown));

        if (grown == NULL)
            return OV_ENOMEM;
        f->above = grown;
        f->above_max = max;
    }
    f->above[*number] = above;
    return 0;
}

static int add_host(struct topo_fabric *f, const char *name, const char *text,
                    size_t end)
{
    size_t len = strlen(text);
    size_t group = group_len(text, len > end ? len - end : len);
    uint32_t number;
    int rc;

    if (group == 0 ||
        topo_hosts_find(&f->hosts, name, strlen(name)) < TOPO_NONE)
        return 0;
    rc = add_group(f, text, group, &number);
    /* A text that cannot be the name of a group gives no group, which is no
     * error. */
    if (rc == OV_EINVAL || rc == OV_EFULL)
        return 0;
    if (rc == 0)
        rc = topo_hosts_add(&f->hosts, name, strlen(name), 0);
    if (rc == 0)
        f->leaf[f->hosts.count - 1] = number;
    return rc;
}

/* Adds the launcher to the group that its name belongs to, if there is such a
 * group. */
static int add_launcher(struct topo_fabric *f, const char *name, size_t end)
{
    char *text = string_of(name);
    size_t len = text != NULL ? strlen(text) : 0;
    size_t group = group_len(text, len > end ? len - end : len);
    int rc = text == NULL ? OV_ENOMEM : 0;

    if (group > 0 && topo_hosts_find(&f->switches, text, group) != TOPO_NONE)
        rc = add_host(f, name, text, end);
    free(text);
    return rc;
}

/* True when there is more than one group, and some group has several hosts. */
static bool says_much(const struct topo_fabric *f, uint32_t count)
{
    uint32_t *sizes = calloc((size_t)f->switches.count + 1, sizeof(*sizes));
    uint32_t groups = 0, most = 0;

    for (uint32_t i = 0; sizes != NULL && i < f->hosts.count; i++) {
        uint32_t size = ++sizes[f->leaf[i]];

        groups += size == 1;
        most = size > most ? size : most;
    }
    free(sizes);
    return most > 1 && groups + (f->hosts.count < count) > 1;
}

/* Finds the group of each host, whose text is in `texts`, in the order of the
 * hosts. */
static int find_groups(struct topo_fabric *f, const struct text *texts,
                       const struct topo_hosts *hosts, uint32_t count,
                       const char *launcher)
{
    size_t end = common_end(texts, count);
    bool is_good = false;
    int rc = 0;

    topo_hosts_init(&f->hosts);
    topo_hosts_init(&f->switches);
    f->leaf = calloc((size_t)count + 1, sizeof(*f->leaf));
    if (f->leaf == NULL)
        return OV_ENOMEM;
    f->leaf_max = count + 1;
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = add_host(f, topo_hosts_name(hosts, i), texts[i].at, end);
    if (rc == 0)
        is_good = says_much(f, count);
    if (is_good)
        rc = add_launcher(f, launcher, end);
    if (rc != 0 || !is_good)
        topo_fabric_fini(f);
    return rc;
}

/* --- addresses
 * */

/* Reads one line: an address and the names that belong to it. */
static int take_line(char *line, const struct topo_hosts *hosts, uint32_t count,
                     struct text *texts, uint32_t *found)
{
    static const char blanks[] = " \t\r\n";
    char *rest = NULL, *address, *name;

    line[strcspn(line, "#")] = '\0';
    address = strtok_r(line, blanks, &rest);
    if (address == NULL || !is_address(address) ||
        strncmp(address, "127.", 4) == 0)
        return 0;
    while ((name = strtok_r(NULL, blanks, &rest)) != NULL) {
        uint32_t i = topo_hosts_find(hosts, name, strlen(name));

        if (i >= count || is_address(texts[i].at))
            continue;
        free(texts[i].at);
        texts[i].at = strdup(address);
        if (texts[i].at == NULL)
            return OV_ENOMEM;
        ++*found;
    }
    return 0;
}

/* Replaces names by addresses, where the file has them. */
static int read_addresses(const char *path, const struct topo_hosts *hosts,
                          uint32_t count, struct text *texts, uint32_t *found)
{
    FILE *in = path != NULL ? fopen(path, "re") : NULL;
    char *line = NULL;
    size_t max = 0;
    int rc = 0;

    *found = 0;
    while (in != NULL && rc == 0 && getline(&line, &max, in) >= 0)
        rc = take_line(line, hosts, count, texts, found);
    free(line);
    if (in != NULL)
        fclose(in);
    return rc;
}

/* --- public functions */

static int guess(struct topo_guess *out, struct text *texts,
                 const struct topo_hosts *hosts, uint32_t count,
                 const char *launcher, const char *addresses)
{
    uint32_t found = 0;
    int rc = find_groups(&out->fabric, texts, hosts, count, launcher);

    if (rc == 0 && out->fabric.leaf != NULL)
        out->by = TOPO_GUESS_NAMES;
    if (rc == 0 && out->fabric.leaf == NULL)
        rc = read_addresses(addresses, hosts, count, texts, &found);
    if (rc == 0 && found > 0)
        rc = find_groups(&out->fabric, texts, hosts, count, launcher);
    if (rc == 0 && found > 0 && out->fabric.leaf != NULL)
        out->by = TOPO_GUESS_ADDRESSES;
    return rc;
}

/* Sorts the hosts by their names or, if only the addresses give groups, by
 * addresses. */
static int sort_hosts(struct topo_guess *out, struct text *texts,
                      uint32_t count)
{
    out->order = calloc(count, sizeof(*out->order));
    if (out->order == NULL)
        return OV_ENOMEM;
    qsort(texts, count, sizeof(*texts), compare_texts);
    for (uint32_t i = 0; i < count; i++)
        out->order[i] = texts[i].host;
    return 0;
}

int topo_guess_init(struct topo_guess *out, const struct topo_hosts *hosts,
                    uint32_t count, const char *launcher, const char *addresses)
{
    struct text *texts = texts_new(hosts, count);
    int rc = texts == NULL ? OV_ENOMEM : 0;

    *out = (struct topo_guess){0};
    if (rc == 0)
        rc = guess(out, texts, hosts, count, launcher, addresses);
    if (rc == 0)
        rc = sort_hosts(out, texts, count);
    texts_free(texts, count);
    if (rc != 0)
        topo_guess_fini(out);
    return rc;
}

void topo_guess_fini(struct topo_guess *guess)
{
    topo_fabric_fini(&guess->fabric);
    free(guess->order);
    *guess = (struct topo_guess){0};
}
