# Every process gets the launcher's standard input,
# over the provider strict.
exec bash "$top_srcdir/tests/provider/over_strict.sh" \
    "$top_srcdir/tests/live/test_exact_stdin.py"
