#!/usr/bin/env python3
"""Runs the test of unusual output over the provider strict."""
import sys

import over_strict

sys.exit(over_strict.run("output/test_exact_odd.py"))
