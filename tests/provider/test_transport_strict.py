#!/usr/bin/env python3
"""Runs the tests of the transport over the provider strict."""
import sys

import over_strict

sys.exit(over_strict.run("unit/test_transport") or
         over_strict.run("unit/test_transport_end"))
