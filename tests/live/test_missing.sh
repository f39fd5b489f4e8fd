#!/bin/bash
# Hosts whose daemons do not come: told in groups of one reason, and left out
# where --min-nodes lets the job go on without.
. "$top_srcdir/tests/live/lib.sh"

rsh="sh $(realpath "$top_srcdir")/tests/live/rsh_here.sh"
start() {
    launch --rsh "$rsh" --interface lo -w 'node[1-8]' "$@"
}

it "tells hosts that fail for the same reason in one line"
export RSH_BAD="node3 node6 node7"
launch_telling "3 daemons" start --arity 8 -- true </dev/null
check_eq 1 "$rc"
check_eq 1 "$(wc -l <"$err")"
check_has "$err" "xylem: 3 daemons do not come: node[3,6-7]: "
check_has "$err" "last words: connect to host HOST: No route to host"
check_gone

it "takes no part of a word for the name of a host"
mkdir "$TMPDIR/of_node3"
cp "$top_srcdir/tests/live/rsh_here.sh" "$TMPDIR/of_node3"
launch_telling "3 daemons" launch --rsh "sh $TMPDIR/of_node3/rsh_here.sh" \
    --interface lo -w 'node[1-8]' --arity 8 -- true </dev/null
check_eq 1 "$rc"
check_eq 1 "$(wc -l <"$err")"
check_gone

it "tells each reason once"
export RSH_MUTE="node1 node2"
launch_telling "3 daemons" \
    start --arity 8 --launch-timeout $((3 * live_slow)) -- true </dev/null
check_eq 1 "$rc"
check_has "$err" "3 daemons do not come: node[3,6-7]: "
unset RSH_BAD
launch_telling "2 daemons" \
    start --arity 8 --launch-timeout $((3 * live_slow)) -- true </dev/null
check_has "$err" "2 daemons do not come: node[1-2]: xylemd was not ready after"
unset RSH_MUTE
check_gone

it "tells them also where the limit is shorter than the wait for others"
export RSH_MUTE="node4"
launch_telling "not ready" \
    start --arity 8 --launch-timeout 0.5 -- true </dev/null
check_eq 1 "$rc"
check_has "$err" "xylemd was not ready after"
unset RSH_MUTE
check_gone

it "names a single host, and what is said of it, as it was"
export RSH_BAD=node5
start --arity 2 -- true </dev/null
check_eq 1 "$rc"
check_has "$err" "a daemon does not come: node5: "
check_has "$err" "connect to host node5: No route to host"

it "goes on without them when enough are left, with all of stdin"
export RSH_BAD="node2 node7"
echo hello >"$TMPDIR/in"
start --arity 2 --min-nodes 6 --label=host -- \
    sh -c 'echo "$(cat) $XYLEM_RANK of $XYLEM_SIZE; ${XYLEM_LEFT_OUT:-}"' \
    <"$TMPDIR/in"
check_eq 0 "$rc"
check_eq "node1: hello 0 of 6; node3: hello 1 of 6; node4: hello 2 of 6; \
node5: hello 3 of 6; node6: hello 4 of 6; node8: hello 5 of 6;" \
    "$(sort "$out" | xargs)"
check_has "$err" "the job is started anew without, from "
check_gone

it "starts anew with the limits that it had"
limit=$(ulimit -Sn)
ulimit -Sn 64
start --arity 2 --min-nodes 6 -- sh -c 'ulimit -Sn' </dev/null
ulimit -Sn "$limit"
check_eq 0 "$rc"
check_eq 64 "$(sort -u "$out")"
check_gone

it "takes others of the list in their places"
start --arity 8 -N 3 --min-nodes 3 --label=host -- echo hi </dev/null
check_eq 0 "$rc"
check_eq "node1: hi node3: hi node4: hi" "$(sort "$out" | xargs)"

it "ends when too few are left"
start --arity 8 --min-nodes 7 -- true </dev/null
check_eq 1 "$rc"
check_has "$err" "6 hosts are left, --min-nodes asks for 7"
check_gone
