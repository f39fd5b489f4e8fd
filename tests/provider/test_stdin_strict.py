#!/usr/bin/env python3
"""Runs the test of the launcher's input, which every process gets, over the
provider strict."""
import sys

import over_strict

sys.exit(over_strict.run("stdin/test_exact_stdin.py"))
