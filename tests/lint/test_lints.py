#!/usr/bin/env python3
"""Checks that each lint finds the errors of its fixture.

The fixtures are small trees (decoders, layers, links, members, messages, prose,
rows, style, types) and libraries (circles, names, purity) that break each rule
once; beside them stands what must be said, line by line.
"""
import os
import subprocess
import sys
import unittest
from unittest import mock

import circles
import decoders
import members
import names
import prose

LINT = os.path.join(os.environ["top_srcdir"], "tests", "lint")
BUILT = os.path.join(os.environ["top_builddir"], "tests", "lint", "fixtures")


def run(lint, *arguments):
    done = subprocess.run(
        [sys.executable, os.path.join(LINT, lint + ".py"), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode().splitlines()


def wanted(name):
    with open(os.path.join(LINT, "fixtures", name + ".txt"),
              encoding="utf-8") as file:
        return file.read().splitlines()


def told(lint, name):
    """Returns the complaints of a lint about its fixture, run in this process,
    where its lists can be set."""
    root = os.path.join(LINT, "fixtures", name)
    return [f"{path}:{line}: {text}"
            for path, line, text in lint.complaints(root)]


class LintTest(unittest.TestCase):
    maxDiff = None

    def test_layers_names_each_include_that_is_not_allowed(self):
        status, said = run("layers", os.path.join(LINT, "fixtures", "layers"))
        self.assertEqual((status, said), (1, wanted("layers")))

    def test_style_names_each_rule_that_is_broken(self):
        status, said = run("style", os.path.join(LINT, "fixtures", "style"))
        # clang-format complains only if the right version is installed.
        said = [line for line in said if "clang-format" not in line]
        self.assertEqual((status, said), (1, wanted("style")))

    def test_types_names_each_second_one_of_a_header(self):
        status, said = run("tags", os.path.join(LINT, "fixtures", "types"))
        self.assertEqual((status, said), (1, wanted("types")))

    def test_rows_want_tests_that_are_there(self):
        status, said = run("pmix_rows", os.path.join(LINT, "fixtures", "rows"))
        self.assertEqual((status, said), (1, wanted("rows")))

    def test_decoders_names_each_that_no_target_calls(self):
        status, said = run("decoders",
                           os.path.join(LINT, "fixtures", "decoders"))
        self.assertEqual((status, said), (1, wanted("decoders")))

    def test_decoders_misses_a_target_that_is_taken_away(self):
        top = os.environ["top_srcdir"]
        left = decoders.listed(top) - {"order"}
        with mock.patch.object(decoders, "listed", lambda root: left):
            said = [text for _, _, text in decoders.complaints(top)]
        self.assertIn("not in FUZZ_TARGETS", said)
        self.assertIn("job_order_decode: no target of tests/fuzz/ calls it",
                      said)

    def test_links_wants_tests_that_need_nothing_above_a_module(self):
        status, said = run("links", os.path.join(LINT, "fixtures", "links"))
        self.assertEqual((status, said), (1, wanted("links")))

    def test_messages_holds_code_and_table_together(self):
        status, said = run("messages",
                           os.path.join(LINT, "fixtures", "messages"))
        self.assertEqual((status, said), (1, wanted("messages")))

    def test_members_names_what_is_too_large_and_no_entry_that_does(self):
        exceptions = {name: (32, "today", "until then")
                      for name in ("ep_held", "ep_grown", "ep_less", "ep_gone")}
        descriptions = {"ep_options": (("commands/",), "a command line")}
        with mock.patch.object(members, "EXCEPTIONS", exceptions), \
                mock.patch.object(members, "DESCRIPTIONS", descriptions):
            self.assertEqual(told(members, "members"), wanted("members"))

    def test_prose_names_each_phrase_in_the_folders_that_are_read(self):
        with mock.patch.object(prose, "CHECKED", ["docs", "overlay", "tests"]):
            self.assertEqual(told(prose, "prose"), wanted("prose"))

    def test_purity_names_calls_and_state(self):
        status, said = run("purity",
                           os.path.join(BUILT, "overlay", "libimpure.la"))
        if status == 77:
            self.skipTest(said[0])
        self.assertEqual((status, said), (1, wanted("purity")))

    def test_circles_names_each_arrow_of_a_circle(self):
        status, said = run("circles",
                           os.path.join(BUILT, "overlay", "libcircle.la"))
        self.assertEqual((status, said), (1, wanted("circles")))

    def test_circles_looks_into_every_archive(self):
        built = {la for la in names.everything()
                 if os.path.basename(la).startswith("lib")}
        self.assertLessEqual(built, set(circles.ARCHIVES))

    def test_names_wants_the_prefix_of_the_folder(self):
        status, said = run("names",
                           os.path.join(BUILT, "overlay", "libimpure.la"))
        self.assertEqual((status, said), (1, wanted("names-archive")))

    def test_names_lets_a_module_export_its_operations_only(self):
        status, said = run("names",
                           os.path.join(BUILT, "endpoints", "xylem_ofi.la"))
        if status == 77:
            self.skipTest(said[0])
        self.assertEqual((status, said), (1, wanted("names-module")))

    def test_a_library_that_was_not_built_is_a_failure(self):
        status, said = run("purity", "nowhere.la")
        self.assertEqual((status, said), (1, ["nowhere.la: not built"]))


if __name__ == "__main__":
    unittest.main()
