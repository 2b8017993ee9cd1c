"""What a user of one agent sees of run, submit, logs, wait, cancel, plan and explain."""

import filecmp
import os
import re
import signal
import time
import unittest

import processes
from market import Market, bound, must, wait_until

UNPLACEABLE = 120
TIME = 121
INTERRUPTED = 130

# Says "one", waits for a file to appear, says "two" on stderr.
GATED = 'echo one; while [ ! -e "$GATE" ]; do sleep 0.05; done; echo two >&2'
# A grandchild that left the session and its parents, and does not listen to SIGTERM.
FAMILY = ("trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo far >> \"$PIDS\"; sleep 301' &) ; "
          'echo near >> "$PIDS"; sleep 302')


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return ""


class RunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.market = cls.enterClassContext(Market(3, ("north", "south", "south")))

    def path(self, name):
        return os.path.join(self.market.shared, f"{self.id().rsplit('.', maxsplit=1)[-1]}-{name}")

    def abacus(self, *arguments):
        return self.market.run(0, *arguments)

    def submit(self, *arguments):
        return must(self.abacus("submit", "--quiet", *arguments)).stdout.strip()

    def open_gate(self, gate):
        with open(gate, "w"):
            pass

    def finish(self, process, within_s=20):
        """Output, errors and exit code of a process that is to end."""
        out, err = process.communicate(timeout=bound(within_s))
        return out, err, process.returncode

    # ---- run

    def test_run_exits_with_the_code_of_the_task(self):
        for script, code in (("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 128 + 9), ("kill -15 $$", 128 + 15)):
            with self.subTest(script):
                result = self.abacus("run", "--cpu", "0.5", "--", "sh", "-c", script)
                self.assertEqual(result.returncode, code, result.stderr)

    def test_run_shows_output_while_the_task_runs(self):
        gate = self.path("gate")
        process = self.market.popen(0, "run", "--cpu", "0.5", "--env", f"GATE={gate}", "--", "sh", "-c", GATED)
        self.assertEqual(process.stdout.readline(), "one\n")
        self.assertIsNone(process.poll())
        self.open_gate(gate)
        out, err, code = self.finish(process)
        self.assertEqual((out, code), ("", 0), err)
        self.assertIn("two", err)

    def test_interrupting_run_cancels_the_task(self):
        mark = self.path("mark")
        process = self.market.popen(0, "run", "--cpu", "0.5", "--grace", "1s", "--env", f"PIDS={mark}", "--", "sh",
                                    "-c", 'echo up; echo up >> "$PIDS"; sleep 303')
        self.assertEqual(process.stdout.readline(), "up\n")
        process.send_signal(signal.SIGINT)
        _out, err, code = self.finish(process)
        self.assertEqual(code, INTERRUPTED, err)
        view = self.market.wait_for_job(0, "last", 20)
        self.assertEqual(self.market.tasks(0, view["job"])[0]["end"]["kind"], "cancelled")
        self.assertEqual(processes.wait_until_gone(mark, bound(10)), {})

    # ---- logs, wait, cancel

    def test_following_logs_ends_with_the_task(self):
        gate = self.path("gate")
        job = self.submit("--cpu", "0.5", "--env", f"GATE={gate}", "--", "sh", "-c", GATED)
        process = self.market.popen(0, "logs", "--follow", job)
        self.assertEqual(process.stdout.readline(), "one\n")
        self.assertIsNone(process.poll())
        self.open_gate(gate)
        out, err, code = self.finish(process)
        self.assertEqual((out, code), ("", 0), err)
        self.assertEqual(err, "two\n")
        again = must(self.abacus("logs", job))
        self.assertEqual((again.stdout, again.stderr), ("one\n", "two\n"))

    def test_wait_exits_with_the_code_of_the_job(self):
        self.assertEqual(self.abacus("wait", self.submit("--cpu", "0.5", "--", "sh", "-c", "exit 3")).returncode, 3)
        job = self.submit("--cpu", "0.5", "--grace", "1s", "--", "sleep", "304")
        self.assertEqual(self.abacus("wait", "--timeout", "300ms", job).returncode, TIME)
        must(self.abacus("cancel", job))
        self.assertNotEqual(self.abacus("wait", job).returncode, 0)

    def test_cancel_ends_the_whole_family_of_a_task(self):
        mark = self.path("pids")
        job = self.submit("--cpu", "0.5", "--grace", "1s", "--env", f"PIDS={mark}", "--", "sh", "-c", FAMILY)
        wait_until("both are up", lambda: sorted(read(mark).split()) == ["far", "near"], 20)
        running = " ".join(processes.marked(mark).values())
        self.assertIn("sleep 301", running)
        self.assertIn("sleep 302", running)
        must(self.abacus("cancel", job))
        self.market.wait_for_job(0, job, 20)
        self.assertEqual(processes.wait_until_gone(mark, bound(10)), {})
        self.assertEqual(self.market.tasks(0, job)[0]["end"]["kind"], "cancelled")

    # ---- arrays, files

    def test_an_array_runs_each_index(self):
        result = must(self.abacus("run", "--cpu", "0.5", "--array", "0-9:3", "--", "sh", "-c",
                                  "echo index $ABACUS_TASK_INDEX"))
        self.assertEqual(sorted(result.stdout.splitlines()), [f"{i}: index {i}" for i in (0, 3, 6, 9)])
        code = self.abacus("run", "--cpu", "0.5", "--array", "0-2", "--", "sh", "-c", "exit $ABACUS_TASK_INDEX")
        self.assertEqual(code.returncode, 2)

    def test_an_array_keeps_to_its_width(self):
        lines = self.path("lines")
        must(self.abacus("run", "--cpu", "0.5", "--array", "0-5%2", "--env", f"LINES={lines}", "--", "sh", "-c",
                         'echo begin >> "$LINES"; sleep 0.3; echo end >> "$LINES"'))
        running = most = 0
        for word in read(lines).split():
            running += 1 if word == "begin" else -1
            most = max(most, running)
        self.assertEqual((running, most), (0, 2))

    def make_inputs(self):
        """A file of 3 MiB, and a folder with a script that may be executed, an empty file and a folder below."""
        tree, data = self.path("tree"), self.path("data")
        os.makedirs(tree + "/below")
        with open(data, "wb") as file:
            file.write(os.urandom(3 << 20))
        with open(tree + "/copy", "w") as file:
            file.write('#!/bin/sh\nmkdir -p "$2" && cp -r "$1" "$2/"\n')
        os.chmod(tree + "/copy", 0o755)
        with open(tree + "/below/small", "wb") as file:
            file.write(bytes(range(256)))
        with open(tree + "/empty", "w"):
            pass
        return data, tree

    def check_same(self, left, right):
        self.assertTrue(filecmp.cmp(left, right, shallow=False), f"{left} and {right} differ")
        self.assertEqual(os.stat(left).st_mode & 0o111 != 0, os.stat(right).st_mode & 0o111 != 0, right)

    def test_files_come_back_as_they_went(self):
        data, tree = self.make_inputs()
        back = self.path("back")
        script = "tree/copy data.bin out && tree/copy tree out && rm data.bin"
        result = self.abacus("run", "--cpu", "0.5", "--region", "south", "--input", f"{data}:data.bin", "--input",
                             f"{tree}:tree", "--output", "out", "--output-dir", back, "--", "sh", "-c", script)
        must(result)
        self.check_same(data, back + "/out/data.bin")
        for name in ("copy", "below/small", "empty"):
            self.check_same(f"{tree}/{name}", f"{back}/out/tree/{name}")
        self.assertTrue(os.path.exists(data))

    # ---- what cannot be

    def test_what_can_never_run_fails_fast_and_says_what_is_nearest(self):
        cases = ((("--budget", "0.000001"), "budget .* lowest price .* raise the budget"),
                 (("--cpu", "640"), "nearest miss .* needs 640 CPU, has 4 CPU"),
                 (("--memory", "900GiB"), "nearest miss .* memory.* needs 900 GiB, has 512 MiB"),
                 (("--gpu", "nosuch:2"), "nearest miss .* gpu"),
                 (("--region", "atlantis"), "in atlantis: .* other regions: north, south"))
        for flags, message in cases:
            with self.subTest(flags=flags):
                begun = time.monotonic()
                result = self.abacus("run", *flags, "--", "true")
                self.assertEqual(result.returncode, UNPLACEABLE, result.stderr)
                self.assertRegex(result.stderr, re.compile(message))
                self.assertLess(time.monotonic() - begun, bound(15))

    # ---- plan, explain

    def test_plan_buys_nothing(self):
        before = self.market.agents[0].get("/v1/counters"), self.market.agents[0].get("/v1/jobs")
        result = must(self.abacus("plan", "--cpu", "2", "--", "true"))
        self.assertIn("nothing was bought", result.stdout)
        self.assertEqual(len(re.findall(r"cr/h", result.stdout)) >= 3, True, result.stdout)
        after = self.market.agents[0].get("/v1/counters"), self.market.agents[0].get("/v1/jobs")
        self.assertEqual(after[0]["awards_sent"], before[0]["awards_sent"])
        self.assertEqual(after[1], before[1])

    def test_explain_names_asks_and_reasons(self):
        job = self.submit("--cpu", "1", "--region", "south", "--", "true")
        self.market.wait_for_job(0, job, 20)
        lines = self.market.agents[0].get(f"/v1/tasks/{job}/explain")["lines"]
        self.assertTrue(lines)
        text = must(self.abacus("explain", job)).stdout
        winner = self.market.tasks(0, job)[0]["seller"][:8]
        for word in ("asked", "quoted", "awarded", "accepted", "energy", "exited", winner, "south"):
            self.assertIn(word, text)
        for agent in self.market.agents[1:]:
            self.assertIn(agent.node[:8], text)

    def test_explain_says_why_a_task_waits(self):
        full = [self.submit("--cpu", "4", "--region", region, "--grace", "1s", "--array", array, "--", "sleep", "305")
                for region, array in (("north", "0-0"), ("south", "0-1"))]
        waiting = self.submit("--cpu", "3", "--", "true")
        try:
            wait_until("it was declined", lambda: "declined" in self.abacus("explain", waiting).stdout, 20,
                       lambda: self.abacus("explain", waiting).stdout)
            self.assertIn("wait", self.abacus("explain", waiting).stdout)
        finally:
            for job in full:
                must(self.abacus("cancel", job))
        self.assertEqual(self.market.wait_for_job(0, waiting, 60)["succeeded"], 1)


if __name__ == "__main__":
    unittest.main()
