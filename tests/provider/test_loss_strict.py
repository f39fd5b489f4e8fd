#!/usr/bin/env python3
"""Runs the test of lost nodes (the other nodes go on) over the provider strict.
"""
# timeout: 600
import sys

import over_strict

sys.exit(over_strict.run("loss/test_loss.py"))
