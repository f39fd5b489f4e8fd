#!/usr/bin/env python3
"""Runs the test of exact lines (each arrives once, whole and in order) over the
provider strict."""
import sys

import over_strict

sys.exit(over_strict.run("output/test_exact_lines.py"))
