#!/usr/bin/env python3
"""Every process gets the launcher's input, over the provider strict."""
import sys

import over_strict

sys.exit(over_strict.run("stdin/test_exact_stdin.py"))
