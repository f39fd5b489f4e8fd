# Every line comes once, whole and in order,
# over the provider strict.
exec bash "$top_srcdir/tests/provider/over_strict.sh" \
    "$top_srcdir/tests/live/test_exact_lines.py"
