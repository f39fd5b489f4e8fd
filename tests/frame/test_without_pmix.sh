#!/bin/bash
# A build without libpmix: jobs run, and what needs it says how to get it. Only
# in such a build; make distcheck has one.
. "$top_srcdir/tests/live/lib.sh"

[ -e "$top_builddir/pmix_api/xylem-pmix" ] && skip "built with PMIx"
unset XYLEM_PMIX

it "runs a job, without a word of what it lacks"
launch -N 2 -- sh -c 'cat; echo hi' <<<in
check_eq 0 "$rc"
check_eq "hi hi in in" "$(sort "$out" | xargs)"
check_eq "xylem: no hosts given: 2 virtual nodes on this machine" \
    "$(cat "$err")"
check_gone

it "says so with -v"
launch -v -N 1 -- true </dev/null
check_eq 0 "$rc"
check_has "$err" "this xylem was built without PMIx: tools cannot connect"
check_gone

it "has a dvm, and jobs in it"
"$XYLEM" dvm -N 2 2>"$err" &
dvm=$!
eventually 60 grep -q "2 nodes are up" "$err"
"$XYLEM" run --dvm="$dvm" --label -- cat <<<in >"$out" 2>"$out.err"
check_eq 0 $?
check_eq "0: in 1: in" "$(sort "$out" | xargs)"
check_file "" "$out.err"
check "$XYLEM" dvm --stop="$dvm"
wait "$dvm"
check_eq 0 $?
check_gone

it "says what it lacks where an address is asked for"
"$XYLEM" dvm -N 1 --report-uri - </dev/null >"$out" 2>"$err"
check_eq 1 $?
check_file "" "$out"
check_has "$err" "PMIx tools cannot connect"
check_gone
