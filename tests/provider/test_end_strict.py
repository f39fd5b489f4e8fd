#!/usr/bin/env python3
"""Runs the test of the remains of jobs (nothing is left behind, whatever ends
the job) over the provider strict."""
import sys

import over_strict

sys.exit(over_strict.run("loss/test_clean_end.py"))
