/* Merges call chains into one tree. */
#include "commands/stack/tree.h"

#include <stdlib.h>
#include <string.h>

#include "commands/ps/table.h"
#include "overlay/base/err.h"

/* --- nodes */

static char *copy_text(struct stack_room *room, const char *text,
                       uint32_t len_bytes)
{
    char *copy = stack_room_grow(room, NULL, 0, len_bytes + 1u);

    if (copy == NULL)
        return NULL;
    memcpy(copy, text, len_bytes);
    copy[len_bytes] = '\0';
    return copy;
}

static void free_node(struct stack_node *node)
{
    struct stack_node *next;

    for (struct stack_node *at = node->first; at != NULL; at = next) {
        next = at->next;
        free_node(at);
        free(at);
    }
    free(node->name);
    free(node->file);
    stack_ranks_free(&node->ranks);
}

static struct stack_node *add_child(struct stack_node *parent,
                                    struct stack_room *room,
                                    const struct stack_frame *frame)
{
    struct stack_node *node = stack_room_grow(room, NULL, 0, sizeof(*node));

    if (node == NULL)
        return NULL;
    *node = (struct stack_node){.line = frame->line};
    node->name = copy_text(room, frame->name, frame->name_bytes);
    if (frame->file != NULL)
        node->file = copy_text(room, frame->file, frame->file_bytes);
    if (node->name == NULL || (frame->file != NULL && node->file == NULL)) {
        free_node(node);
        free(node);
        return NULL;
    }
    node->next = parent->first;
    parent->first = node;
    parent->children++;
    return node;
}

static bool is_same(const char *copy, const char *text, uint32_t len_bytes)
{
    return strlen(copy) == len_bytes && memcmp(copy, text, len_bytes) == 0;
}

/* Finds a child by its name; NULL: there is none. */
static struct stack_node *find_child(const struct stack_node *parent,
                                     const struct stack_frame *frame)
{
    struct stack_node *at = parent->first;

    while (at != NULL && !is_same(at->name, frame->name, frame->name_bytes))
        at = at->next;
    return at;
}

/* Copies at most STACK_NAME_MAX bytes, replaces characters that a terminal
 * would obey, and returns the length of the result. */
static uint32_t clean_text(const char *text, uint32_t len_bytes,
                           char out[STACK_NAME_MAX + 1])
{
    char raw[STACK_NAME_MAX + 1];

    memcpy(raw, text, len_bytes);
    for (uint32_t i = 0; i < len_bytes; i++) {
        if (raw[i] == '\0')
            raw[i] = '?';
    }
    raw[len_bytes] = '\0';
    ps_text_clean(raw, out, STACK_NAME_MAX + 1);
    return (uint32_t)strlen(out);
}

/* Copies the texts of a frame into memory of the caller, and cleans them for a
 * terminal. */
static struct stack_frame clean_frame(const struct stack_frame *frame,
                                      char name[STACK_NAME_MAX + 1],
                                      char file[STACK_NAME_MAX + 1])
{
    const uint32_t file_bytes =
        frame->file_bytes < STACK_FILE_MAX ? frame->file_bytes : STACK_FILE_MAX;
    struct stack_frame out = {.name = name, .line = frame->line};

    out.name_bytes = clean_text(frame->name, frame->name_bytes, name);
    if (frame->file == NULL)
        return out;
    out.file = file;
    out.file_bytes = clean_text(frame->file + frame->file_bytes - file_bytes,
                                file_bytes, file);
    return out;
}

/* Forgets where a function is when not all of its chains have the same
 * place. */
static void compare_place(struct stack_node *node,
                          const struct stack_frame *frame)
{
    if (node->file != NULL && frame->file != NULL &&
        node->line == frame->line &&
        is_same(node->file, frame->file, frame->file_bytes))
        return;
    free(node->file);
    node->file = NULL;
    node->line = 0;
}

/* Finds or makes the child, and adds a chain of this rank to it. Returns NULL
 * when there is no room or no memory. */
static struct stack_node *enter(struct stack_node *parent,
                                struct stack_room *room, uint32_t rank,
                                const struct stack_frame *frame)
{
    static const struct stack_frame others = {.name = "...", .name_bytes = 3};
    char name[STACK_NAME_MAX + 1], file[STACK_NAME_MAX + 1];
    struct stack_frame wanted = clean_frame(frame, name, file);
    struct stack_node *node = find_child(parent, &wanted);

    if (node == NULL && parent->children >= STACK_CHILDREN_MAX) {
        wanted = others;
        node = find_child(parent, &wanted);
    }
    if (node != NULL)
        compare_place(node, &wanted);
    else
        node = add_child(parent, room, &wanted);
    if (node == NULL || stack_ranks_add(&node->ranks, rank, room) != 0)
        return NULL;
    node->threads++;
    return node;
}

int stack_tree_add(struct stack_tree *tree, struct stack_room *room,
                   uint32_t rank, const char *program,
                   const struct stack_frame *frames, uint32_t count)
{
    const size_t len = strnlen(program, STACK_NAME_MAX);
    const struct stack_frame first = {.name = program,
                                      .name_bytes = (uint32_t)len};
    struct stack_node *at = enter(&tree->root, room, rank, &first);

    for (uint32_t i = 0; at != NULL && i < count; i++)
        at = enter(at, room, rank, &frames[i]);
    return at != NULL ? 0 : OV_ENOMEM;
}

void stack_tree_free(struct stack_tree *tree)
{
    free_node(&tree->root);
    *tree = (struct stack_tree){.root = {.name = NULL}};
}

/* --- sorting */

static int compare(const void *a, const void *b)
{
    const struct stack_node *const *left = a, *const *right = b;
    const struct topo_ranges *one = &(*left)->ranks, *two = &(*right)->ranks;
    const uint32_t ones = topo_ranges_size(one), twos = topo_ranges_size(two);
    const uint32_t first = topo_ranges_nth(one, 0);
    const uint32_t second = topo_ranges_nth(two, 0);

    if (ones != twos)
        return ones > twos ? -1 : 1;
    if (first != second)
        return first < second ? -1 : 1;
    return strcmp((*left)->name, (*right)->name);
}

static int sort_node(struct stack_node *node)
{
    struct stack_node **all = calloc(node->children + 1u, sizeof(*all));
    uint32_t count = 0;
    int rc = 0;

    if (all == NULL)
        return OV_ENOMEM;
    for (struct stack_node *at = node->first; at != NULL; at = at->next)
        all[count++] = at;
    qsort(all, count, sizeof(struct stack_node *), compare);
    for (uint32_t i = 0; i < count; i++)
        all[i]->next = all[i + 1];
    node->first = all[0];
    free(all);
    for (struct stack_node *at = node->first; rc == 0 && at != NULL;
         at = at->next)
        rc = sort_node(at);
    return rc;
}

int stack_tree_sort(struct stack_tree *tree)
{
    return sort_node(&tree->root);
}
