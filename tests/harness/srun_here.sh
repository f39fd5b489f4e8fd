#!/bin/bash
# An srun that starts its tasks on this machine. Called by the name `srun`, with
# the options that the launcher gives; hosts are names that lead here, such as
# 127.0.0.2.
#
#   FAKE_LOG     a file that gets a line with the arguments of each call
#   FAKE_ENV     a file that gets the environment that tasks would have
#   FAKE_REFUSE  what it says in place of starting anything; its status is 1
#   FAKE_BAD     hosts on which the program cannot be started, as `h1 h2`
#   FAKE_MUTE    hosts on which nothing happens
[ -z "${FAKE_LOG:-}" ] || echo "$@" >>"$FAKE_LOG"
[ -z "${FAKE_ENV:-}" ] || env >>"$FAKE_ENV"
if [ -n "${FAKE_REFUSE:-}" ]; then
    echo "srun: error: $FAKE_REFUSE" >&2
    exit 1
fi
while [ $# -gt 0 ]; do
    case $1 in
    --nodelist=*) list=${1#*=} ;;
    --*) ;;
    *) break ;;
    esac
    shift
done
task() {
    exec {out}>&- {err}>&-
    case " ${FAKE_BAD:-} " in *" $1 "*)
        echo "slurmstepd: error: execve(): $2: No such file or directory" >&2
        exit 2
        ;;
    esac
    case " ${FAKE_MUTE:-} " in *" $1 "*) exec tail -f /dev/null ;; esac
    export SLURMD_NODENAME="$1" SLURM_NODEID="$id" SLURM_PROCID="$id" \
        SLURM_LOCALID=0 SLURM_STEP_ID=0 PMI_RANK="$id"
    shift
    exec "$@"
}
end() {
    echo 'srun: forcing job termination' >&2
    kill -KILL "${!number[@]}" 2>/dev/null
    exit 143
}
# What a task says has its number before it, as --label has it.
declare -A number host_of
labels=()
id=0
trap end TERM
for host in $(echo "$list" | tr , ' '); do
    exec {out}> >(exec sed -u "s/^/$id: /")
    labels+=($!)
    exec {err}> >(exec sed -u "s/^/$id: /" >&2)
    labels+=($!)
    task "$host" "$@" </dev/null >&"$out" 2>&"$err" &
    number[$!]=$id host_of[$!]=$host
    exec {out}>&- {err}>&-
    id=$((id + 1))
done
status=0
while [ ${#number[@]} -gt 0 ]; do
    one=
    wait -n -p one "${!number[@]}"
    code=$?
    # What a signal has ended before that may be no job any more.
    [ -n "$one" ] || break
    [ $code -le $status ] || status=$code
    [ $code -eq 0 ] || echo "srun: error: ${host_of[$one]}: task \
${number[$one]}: Exited with exit code $code" >&2
    unset "number[$one]"
done
wait "${labels[@]}" # all that tasks have said is out before its end, as srun's
exit $status
