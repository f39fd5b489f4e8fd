# Nothing is left behind, whatever ends the job,
# over the provider strict.
exec bash "$top_srcdir/tests/provider/over_strict.sh" \
    "$top_srcdir/tests/live/test_clean_end.py"
