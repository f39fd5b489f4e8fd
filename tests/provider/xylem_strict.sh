#!/bin/sh
# The launcher of the build tree, over the provider strict.
if [ "${1:-}" = run ]; then
    shift
    exec "$top_builddir/commands/xylem" run --provider strict "$@"
fi
exec "$top_builddir/commands/xylem" "$@"
