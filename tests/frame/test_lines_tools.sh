# tool_check passes what tool_lines writes and finds every kind of damage to it.
XYLEM=/bin/true
. "$top_srcdir/tests/live/lib.sh"

tool=$top_builddir/tests/live
good=$TMPDIR/good
bad=$TMPDIR/bad

# labelled RANK FILE: what `run --label` makes of a rank's lines.
labelled() {
    LC_ALL=C sed "s/^/$1: /" "$2"
}

for rank in 0 1 2; do
    "$tool/tool_lines" --rank $rank --count 700 >"$TMPDIR/$rank"
    labelled $rank "$TMPDIR/$rank"
done >"$good"
cat "$TMPDIR/0" "$TMPDIR/1" "$TMPDIR/2" >"$TMPDIR/bare"

it "accepts what was written, with labels and without"
check "$tool/tool_check" --procs 3 --count 700 --label <"$good"
check "$tool/tool_check" --procs 3 --count 700 <"$TMPDIR/bare"

it "a different way of writing does not change the lines"
for how in --each "--pause-at 3,600 --pause-ms 1" "--fd 5" --close; do
    # shellcheck disable=SC2086
    "$tool/tool_lines" --rank 1 --count 700 $how </dev/null >"$bad" 5>&1
    check_same "$TMPDIR/1" "$bad"
done

it "the last line may lack its newline, and the writer may die"
{
    "$tool/tool_lines" --rank 1 --count 700 --no-last-newline --die >"$bad"
    status=$?
} 2>"$err"
check_eq 137 $status
head -c -1 "$TMPDIR/1" >"$TMPDIR/open"
check_same "$TMPDIR/open" "$bad"
check "$tool/tool_check" --procs 1 --first 1 --count 700 <"$bad"

it "another seed is another text"
refute "$tool/tool_check" --procs 3 --count 700 --seed 2 <"$TMPDIR/bare" >"$out"

# damage TEXT SED-SCRIPT: it is found in both forms, TEXT says what it is.
damage() {
    it "finds: $1"
    LC_ALL=C sed "$2" "$good" >"$bad"
    "$tool/tool_check" --procs 3 --count 700 --label <"$bad" >"$out"
    check_eq 1 $?
    check_has "$out" "$1"
    LC_ALL=C sed "$2" "$TMPDIR/bare" >"$bad"
    "$tool/tool_check" --procs 3 --count 700 <"$bad" >"$out"
    check_eq 1 $?
}

# A line number in either file: one that is marked, and the one after.
marked=$(grep -an '@1:30[0-9]:' "$TMPDIR/bare" | head -n 1 | cut -d: -f1)
short=$(LC_ALL=C grep -anE '^[a-z]{3,}$' "$TMPDIR/bare" | head -n 1 |
    cut -d: -f1)
damage "missing" "${marked}d"
damage "again or late" "${marked}p"
damage "again or late" "${marked}{h;d};$((marked + 3))G"
damage "is wrong from byte" "${marked}s/.\$/\\n/"
damage "is wrong from byte" "${marked}s/[a-z][^@]\$/--/;t;${marked}s/..\$/--/"
damage "is wrong from byte" "${marked}N;s/\(:30[0-9]:.*\)\n/\1/"
damage "nothing from line" '$d'
damage "" "${short}d"
damage "" "${short}p"
damage "" "${short}s/./A/"

it "finds a line under the label of another rank"
LC_ALL=C sed "${marked}s/^1:/2:/" "$good" >"$bad"
refute "$tool/tool_check" --procs 3 --count 700 --label <"$bad" >"$out"

it "finds a line without a label"
LC_ALL=C sed "${marked}s/^1: //" "$good" >"$bad"
"$tool/tool_check" --procs 3 --count 700 --label <"$bad" >"$out"
check_has "$out" "no label"
