#!/usr/bin/env python3
"""The test runner and the helpers of the live tests work as they say.

Each case writes a small test, runs it through run.py, and looks at the status,
the text, and what is left in the process table.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

# Each case has its own limits.
os.environ.pop("XYLEM_TEST_SLOW", None)
os.environ.pop("XYLEM_TEST_WRAP", None)
TESTS = os.path.join(os.environ["top_srcdir"], "tests")

# A process that leaves its parent, its session and its group, and does not
# end.
DAEMON = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("daemon", os.getpid(), flush=True)
        os.read(os.pipe()[0], 1)
    os._exit(0)
os.wait()
sys.exit(0)
"""

# Writes a report like that of a sanitizer: its process and the text.
REPORT = """
import os
path = os.environ["ASAN_OPTIONS"].rpartition("log_path=")[2].split(":")[0]
with open(path + ".%d", "a") as file:
    file.write(%r)
"""


class Result:
    def __init__(self, text, **env):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "case.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run(
                [sys.executable, os.path.join(TESTS, "run.py"), path],
                env={**os.environ, "top_builddir": folder, **env},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, check=False)
        self.status = done.returncode
        self.text, found, self.times = \
            done.stdout.decode().rpartition("test runner: ")
        assert found, self.times


def alive(pid):
    return os.path.exists(f"/proc/{pid}")


class RunnerTest(unittest.TestCase):
    def test_the_status_of_a_test_is_handed_on(self):
        for status in (0, 1, 3, 77):
            result = Result(f"import sys; sys.exit({status})")
            self.assertEqual(result.status, status)

    def test_a_test_that_dies_by_a_signal_fails(self):
        result = Result("import os; os.kill(os.getpid(), 11)")
        self.assertEqual(result.status, 1)
        self.assertIn("SIGSEGV", result.text)

    def test_a_test_past_its_time_limit_is_ended_and_named(self):
        result = Result("# timeout: 4\nimport os\n"
                        "print(os.getpid(), flush=True)\n"
                        "os.system('tail -f /dev/null')\n")
        self.assertEqual(result.status, 1)
        self.assertIn("took longer than 4 s", result.text)
        self.assertIn("tail -f /dev/null", result.text)
        self.assertFalse(alive(result.text.split()[0]))

    def test_a_daemon_that_is_left_behind_fails_the_test_and_is_ended(self):
        result = Result(DAEMON)
        self.assertEqual(result.status, 1)
        self.assertIn("left these processes", result.text)
        pid = re.search(r"daemon (\d+)", result.text)[1]
        self.assertFalse(alive(pid))

    def test_a_process_that_goes_soon_after_the_end_is_fine(self):
        result = Result("import os, select\n"
                        "if os.fork() == 0:\n"
                        "    select.select([], [], [], 0.2)\n")
        self.assertEqual((result.status, result.text), (0, ""))

    def test_the_time_that_it_took_is_the_last_line(self):
        result = Result("import select; select.select([], [], [], 0.3)")
        seconds, processors = map(float, re.fullmatch(
            r"(\d+\.\d) s, (\d+\.\d) s of processors\n",
            result.times).groups())
        self.assertGreaterEqual(seconds, 0.3)
        self.assertLess(processors, seconds)

    def test_the_slowest_test_comes_first(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(folder + "/tests/loss")
            for name, text in (("fast", "1.5 s, 0.2 s"), ("none", ""),
                               ("slow", "20.0 s, 1 s")):
                with open(f"{folder}/tests/loss/{name}.log", "w") as log:
                    log.write(f"5 checks\ntest runner: {text} of processors\n")
            said = subprocess.run(
                [sys.executable, os.path.join(TESTS, "run.py"), "--times"],
                cwd=folder, stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(said.decode().split(),
                         ["20.0", "1.0", "tests/loss/slow",
                          "1.5", "0.2", "tests/loss/fast"])

    def test_what_is_said_of_a_killed_process_is_no_report(self):
        killed = REPORT % (
            34, "==12==Unable to get registers from thread 34.\n")
        self.assertEqual(Result(killed).status, 0)
        nothing = REPORT % (35, "")
        self.assertEqual(Result(killed + nothing).status, 0)
        more = REPORT % (34, "==12==ERROR: LeakSanitizer\n")
        self.assertEqual(Result(killed + more).status, 1)

    def test_a_sanitizer_report_of_any_process_fails_the_test(self):
        result = Result(REPORT % (123, "heap-use-after-free\n"))
        self.assertEqual(result.status, 1)
        self.assertIn("heap-use-after-free", result.text)

    def test_stdin_is_empty_and_the_temporary_folder_is_private(self):
        result = Result("import os, sys\nprint(sys.stdin.read(), end='')\n"
                        "print(*os.listdir(os.environ['TMPDIR']),"
                        " os.environ['TMPDIR'])")
        self.assertEqual(result.status, 0)
        folder = result.text.strip()
        self.assertTrue(os.path.isabs(folder), folder)
        self.assertNotIn("\n", folder)
        self.assertFalse(os.path.exists(folder))

    def test_signals_that_were_ignored_outside_work_inside(self):
        text = ("import signal, sys\n"
                "sys.exit(signal.getsignal(signal.SIGHUP) !="
                " signal.SIG_DFL)\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "case.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            status = subprocess.run(
                ["nohup", sys.executable, os.path.join(TESTS, "run.py"), path],
                env={**os.environ, "top_builddir": folder}, check=False,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE).returncode
        self.assertEqual(status, 0)


HEAD = """import live, os, subprocess, sys
with live.case("a sentence"):
"""


class LibraryTest(unittest.TestCase):
    def live(self, *lines, xylem="/bin/true"):
        """A test with these lines in its case; the first of them is its third
        line."""
        text = HEAD + "".join(f"    {line}\n" for line in lines)
        return Result(text + "sys.exit(live.end())\n", XYLEM=xylem)

    def test_good_checks_pass(self):
        result = self.live(
            "live.check(True, 'a text')",
            "live.check_eq('a', 'a')",
            "live.check_has('a b', 'xa bx')",
            "live.check_lacks(b'c', b'a b')",
            "live.check_gone()",
            "live.check_all_gone()",
            "live.check(live.eventually(lambda: True, 1, 'a text'), 'it is')",
            "ran = live.launch(given=b'in')",
            "live.check_eq((0, b'', ''), (ran.code, ran.out, ran.said))")
        self.assertEqual(result.status, 0, result.text)
        self.assertIn("7 checks passed", result.text)

    def test_each_bad_check_fails_with_its_line(self):
        for words in ("live.check(False, 'a text')",
                      "live.check_eq('a', 'b')",
                      "live.check_has('c', 'a b')",
                      "live.check_lacks(b'a', b'a b')",
                      "live.eventually(lambda: False, 0, 'a text')",
                      "live.launch(code=1)"):
            result = self.live("live.check(True, 'a text')", words)
            self.assertEqual(result.status, 1, words)
            self.assertIn("FAILED line 4: a sentence: ", result.text)
            self.assertIn("1 of 2 checks failed", result.text)

    def test_a_case_that_breaks_off_fails(self):
        result = self.live("live.check(True, 'a text')", "[][1]")
        self.assertEqual(result.status, 1)
        self.assertIn("a sentence: IndexError", result.text)

    def test_a_script_that_checks_nothing_fails(self):
        self.assertEqual(self.live("pass").status, 1)

    def test_a_skip_is_a_skip(self):
        self.assertEqual(self.live("live.skip('no reason')").status, 77)

    def test_a_test_of_which_nothing_is_left_is_a_skip(self):
        left_out = "raise live.LeftOut('no reason')"
        self.assertEqual(self.live(left_out).status, 77)
        result = self.live("live.check(True, 'a text')", left_out)
        self.assertEqual(result.status, 0)
        self.assertIn("# left out: a sentence: no reason\n", result.text)

    def test_a_command_has_its_environment_and_input(self):
        result = self.live(
            "os.environ.update(A='1', B='2')",
            "ran = live.Ran('sh', '-c', 'echo $A$B$C; cat; echo x >&2; exit 3',"
            " env={'A': None, 'C': '4'}, given=b'in', code=3)",
            "live.check_eq((b'24\\nin', 'x\\n'), (ran.out, ran.said))",
            "live.check_eq(['24', 'in'], ran.lines())")
        self.assertEqual(result.status, 0, result.text)
        self.assertIn("3 checks passed", result.text)

    def test_a_process_of_a_job_is_found_by_check_all_gone(self):
        result = self.live(
            "job = subprocess.Popen(['tail', '-f', '/dev/null'],"
            " env={**os.environ, 'XYLEM_RANK': '0'})",
            "live.eventually(live.theirs, 60, 'it has its environment')",
            "live.check_gone(0)",
            "live.check_all_gone(0)",
            "job.kill()",
            "job.wait()")
        self.assertEqual(result.status, 1)
        self.assertIn("FAILED line 6: ", result.text)
        self.assertIn("tail -f /dev/null", result.text)
        self.assertIn("1 of 1 checks failed", result.text)

    def test_a_xylem_that_was_not_built_is_named(self):
        result = self.live("live.launch()", xylem="/nowhere/xylem")
        self.assertEqual(result.status, 1)
        self.assertIn("'/nowhere/xylem'", result.text)


if __name__ == "__main__":
    unittest.main()
