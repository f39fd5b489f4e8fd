#!/usr/bin/env python3
"""Odd output comes as it is, over the provider strict."""
import sys

import over_strict

sys.exit(over_strict.run("output/test_exact_odd.py"))
