/* Parts of a machine that processes are bound to, or placed on. */
#ifndef TOPO_OBJECT_H
#define TOPO_OBJECT_H

#include <string.h>

enum topo_object { TOPO_NO_OBJECT, TOPO_CORE, TOPO_SOCKET, TOPO_OBJECTS };

/* The name of a kind: "core", "socket" or "none". */
static inline const char *topo_object_name(enum topo_object object)
{
    static const char *const names[TOPO_OBJECTS] = {"none", "core", "socket"};

    return names[object];
}

/* The kind of object of that name; TOPO_OBJECTS for any other text. */
static inline enum topo_object topo_object_find(const char *name)
{
    int object = TOPO_NO_OBJECT;

    while (object < TOPO_OBJECTS &&
           strcmp(name, topo_object_name((enum topo_object)object)) != 0)
        object++;
    return (enum topo_object)object;
}

#endif
