#!/bin/bash
# The launcher `slurm` with an srun that starts its tasks on this machine
# (srun_here.sh): hosts are addresses of loopback. What a real Slurm does is in
# tests/rig/test_slurm.py.
. "$top_srcdir/tests/live/lib.sh"

mkdir "$TMPDIR/bin"
install -m 755 "$top_srcdir/tests/live/srun_here.sh" "$TMPDIR/bin/srun"
export PATH="$TMPDIR/bin:$PATH"
export SLURM_JOB_ID=7 SLURM_JOB_NODELIST='127.0.0.[2-5]' \
    SLURM_TASKS_PER_NODE='2(x3),1'

it "runs in an allocation, one process a node, without a word"
launch --label=host -- sh -c 'echo $XYLEM_RANK of $XYLEM_SIZE' </dev/null
check_eq 0 "$rc"
check_eq "127.0.0.2: 0 of 4
127.0.0.3: 1 of 4
127.0.0.4: 2 of 4
127.0.0.5: 3 of 4" "$(sort "$out")"
check_file "" "$err"
check_gone

it "fills the slots of the allocation, in the order of its hosts"
launch --label=host -n 6 -- printenv XYLEM_RANK </dev/null
check_eq 0 "$rc"
check_eq "127.0.0.2: 0,127.0.0.2: 1,127.0.0.3: 2,127.0.0.3: 3,127.0.0.4: 4,\
127.0.0.4: 5" "$(sort "$out" | paste -sd,)"

it "carries bytes through a chain of daemons that found each other"
head -c 3000000 /dev/urandom >"$TMPDIR/in"
launch --arity 1 -- sha256sum <"$TMPDIR/in"
check_eq 0 "$rc"
check_eq "$(sha256sum <"$TMPDIR/in")" "$(sort -u "$out")"
check_eq 4 "$(wc -l <"$out")"

it "asks srun for a step beside the user's own"
export FAKE_LOG="$TMPDIR/log" FAKE_ENV="$TMPDIR/env"
export SLURM_NTASKS=8 SLURM_LABELIO=1 SLURM_EXACT=1 SRUN_CPUS_PER_TASK=1
launch -N 3 -- printenv SLURM_JOB_NODELIST SLURM_NTASKS </dev/null
check_eq 0 "$rc"
check_eq "3 127.0.0.[2-5],3 8" "$(sort "$out" | uniq -c | xargs -L 1 |
    paste -sd,)"
check_eq 1 "$(wc -l <"$FAKE_LOG")"
check_has "$FAKE_LOG" "--nodelist=127.0.0.2,127.0.0.3,127.0.0.4 "
check_has "$FAKE_LOG" "--nodes=3 --ntasks=3 --ntasks-per-node=1"
for option in --overlap --no-kill --kill-on-bad-exit=0 --wait=0 --mpi=none \
    --input=none --cpu-bind=none --label; do
    check_has "$FAKE_LOG" "$option"
done
check_eq "SLURM_JOB_ID=7" "$(grep '^SLURM_JOB_ID=' "$FAKE_ENV")"
check_lacks "$FAKE_ENV" SLURM_NTASKS
check_lacks "$FAKE_ENV" SLURM_LABELIO
check_lacks "$FAKE_ENV" SLURM_EXACT
check_lacks "$FAKE_ENV" SRUN_CPUS_PER_TASK
unset SLURM_NTASKS SLURM_LABELIO SLURM_EXACT SRUN_CPUS_PER_TASK

it "shows the key to nobody: not to processes, nor in a daemon's environment"
key=$(sed -n 's/^key //p' "$FAKE_ENV")
check_eq 64 "${#key}"
unset FAKE_LOG FAKE_ENV
launch -n 1 -- sh -c 'env; d=$PPID; while :; do
    tr "\0" "\n" </proc/$d/environ
    set -- $(sed "s/.*) //" /proc/$d/stat); d=$2; [ $d -gt 1 ] || break; done
    exit 0' </dev/null
check_eq 0 "$rc"
check_has "$out" "SLURMD_NODENAME=127.0.0.2"
check_eq 1 "$(grep -c '^XYLEM_BOOT_0=xylem-boot' "$out")"

it "gives processes nothing of the task that a daemon or the launcher is"
export SLURM_PROCID=3 SLURM_LOCALID=3 SLURM_STEP_ID=4 PMI_RANK=3 PMIX_RANK=3
launch -N 1 -- env </dev/null
check_eq "SLURM_JOB_ID SLURM_JOB_NODELIST SLURM_TASKS_PER_NODE" \
    "$(sed -n 's/^\(SLURM[^=]*\|PMI[^=]*\)=.*/\1/p' "$out" | sort | xargs)"
launch -N 1 --env PMI_RANK=9 -- printenv PMI_RANK </dev/null
check_file "9
" "$out"
unset SLURM_PROCID SLURM_LOCALID SLURM_STEP_ID PMI_RANK PMIX_RANK

it "chooses hosts within the allocation"
launch -w '127.0.0.[4-5]' --label=host -- echo hi </dev/null
check_eq "127.0.0.4: hi,127.0.0.5: hi" "$(sort "$out" | paste -sd,)"
launch -x 127.0.0.4 -N 3 --label=host -- echo hi </dev/null
check_eq "127.0.0.2: hi,127.0.0.3: hi,127.0.0.5: hi" \
    "$(sort "$out" | paste -sd,)"
launch -w '127.0.0.[5-7]' -- true </dev/null
check_eq 2 "$rc"
check_has "$err" "127.0.0.[6-7]: not in the allocation that Slurm has given"
launch -N 5 -- true </dev/null
check_eq 2 "$rc"
launch -n 8 -- true </dev/null
check_eq 2 "$rc"
launch -x 127.0.0.9 -- true </dev/null
check_eq 2 "$rc"
check_has "$err" "--exclude: 127.0.0.9 is not among the hosts"

it "says what srun said when that does not start"
export FAKE_REFUSE="Unable to create step for job 7: Job has expired"
launch -- true </dev/null
check_eq 1 "$rc"
check_has "$err" "4 daemons do not come: 127.0.0.[2-5]: srun ended before \
xylemd was ready (exit status 1); its last words: \
srun: error: Unable to create step for job 7: Job has expired"
unset FAKE_REFUSE
check_gone

it "says what a daemon says that cannot work"
launch --interface no-such-net -- true </dev/null
check_eq 1 "$rc"
check_has "$err" "no interface \"no-such-net\" that is up here"
launch --xylemd /no/xylemd -- true </dev/null
check_eq 1 "$rc"
check_has "$err" "/no/xylemd"
check_gone

it "ends when two of them cannot be started, long before its time is over"
export FAKE_BAD="127.0.0.3 127.0.0.4"
launch_telling "2 daemons" launch --launch-timeout 3600 -- true </dev/null
check_eq 1 "$rc"
check_has "$err" "2 daemons do not come: 127.0.0.[3-4]: xylemd does not run \
(srun: Exited with exit code 2); its last words: slurmstepd: error: execve(): "
check_eq 1 "$(wc -l <"$err")"
check_gone

it "goes on without those that cannot be started"
launch --launch-timeout 3600 --min-nodes 2 --label=host -- \
    printenv XYLEM_SIZE </dev/null
check_eq 0 "$rc"
check_eq "127.0.0.2: 2,127.0.0.5: 2" "$(sort "$out" | paste -sd,)"
unset FAKE_BAD
check_gone

it "goes on without hosts that do not come, if it may"
export FAKE_MUTE="127.0.0.3 127.0.0.4"
launch_telling "2 daemons" \
    launch --launch-timeout $((4 * live_slow)) --min-nodes 2 --label=host -- \
    printenv XYLEM_SIZE </dev/null
check_eq 0 "$rc"
check_has "$err" "2 daemons do not come: 127.0.0.[3-4]: xylemd was not ready"
check_eq "127.0.0.2: 2,127.0.0.5: 2" "$(sort "$out" | paste -sd,)"
unset FAKE_MUTE
check_gone

it "starts nothing for what is left on a lost host: Slurm ends that"
export FAKE_LOG="$TMPDIR/log-loss"
launch --on-node-loss continue -N 3 -- sh -c '[ "$XYLEM_RANK" = 1 ] || exit 0
    set -- $(sed "s/.*) //" /proc/$PPID/stat); kill -KILL $2 $PPID' </dev/null
check_eq 1 "$rc"
check_has "$err" "127.0.0.3"
check_lacks "$err" "not reached"
check_eq 1 "$(wc -l <"$FAKE_LOG")"
unset FAKE_LOG
check_gone

it "keeps to a range of ports"
launch --port-range 34000-34099 --arity 1 -v -- echo hi </dev/null
check_eq 0 "$rc"
check_eq 4 "$(grep -c hi "$out")"
check_eq "" "$(sed -n 's/.*is ready at .*:\([0-9]*\)$/\1/p' "$err" |
    awk '$1 < 34000 || $1 > 34099')"

it "is an error outside of an allocation"
unset SLURM_JOB_ID SLURM_JOB_NODELIST SLURM_TASKS_PER_NODE
launch --launcher slurm -- true </dev/null
check_eq 2 "$rc"
check_has "$err" "--launcher slurm works in an allocation of Slurm"
