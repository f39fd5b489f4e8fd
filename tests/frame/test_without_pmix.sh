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

for command in dvm "run --dvm -N 1 -- true"; do
    it "$command says how to get it"
    # shellcheck disable=SC2086
    "$XYLEM" $command </dev/null >"$out" 2>"$err"
    check_eq 1 $?
    check_file "" "$out"
    check_eq 1 "$(wc -l <"$err")"
    check_has "$err" "built without libpmix"
    check_has "$err" "libpmix-dev"
done
