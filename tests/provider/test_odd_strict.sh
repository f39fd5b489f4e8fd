# Odd output comes as it is,
# over the provider strict.
exec bash "$top_srcdir/tests/provider/over_strict.sh" \
    "$top_srcdir/tests/live/test_exact_odd.py"
