# The relay tree, which xylem is measured against, does the whole work: what
# skips some of it is no limit to compare with.
XYLEM=/bin/true
. "$top_srcdir/tests/live/lib.sh"

relay=$top_builddir/bench/relay
tool=$top_builddir/tests/live

it "every process gets every byte"
head -c 3000000 /dev/urandom >"$TMPDIR/in"
sum=$(sha256sum <"$TMPDIR/in")
"$relay" down -N 11 -k 3 -- sha256sum <"$TMPDIR/in" >"$out"
check_eq 0 $?
check_eq "11 $sum" "$(sort "$out" | uniq -c | sed 's/^ *//')"

it "a process that takes a part, or nothing, holds nobody up"
cat "$TMPDIR/in" | "$relay" down -N 11 -k 3 -- sh -c '
    case $XYLEM_RANK in 1) head -c 100 >/dev/null;; 2) ;; *) sha256sum;; esac
' >"$out"
check_eq "9 $sum" "$(sort "$out" | uniq -c | sed 's/^ *//')"

it "every line comes once, whole and in order"
"$relay" up -N 11 -k 3 -- "$tool/tool_lines" --count 5000 | cat >"$out"
check "$tool/tool_check" --procs 11 --count 5000 <"$out"

it "also through processes that stop in the middle of a line"
"$relay" up -N 5 -k 2 -- "$tool/tool_lines" --count 3000 --pause-ms 20 \
    --pause-at 100,700,2000 --no-last-newline | cat >"$out"
check "$tool/tool_check" --procs 5 --count 3000 <"$out"

it "lines of more than a buffer are not torn"
"$relay" up -N 7 -k 2 -- sh -c '
    for i in 1 2 3; do
        head -c 300000 /dev/zero | tr "\0" "$XYLEM_RANK"; echo
    done' >"$out"
check_eq "$(printf '3 300000 %s\n' 0 1 2 3 4 5 6)" "$(sort "$out" | uniq -c |
    awk '{ print $1, length($2), substr($2, 1, 1) }')"

it "the worst exit code is handed on"
"$relay" up -N 6 -k 2 -- sh -c 'exit $XYLEM_RANK' >"$out"
check_eq 5 $?
