"""`abacus sim` as docs/reference/scenarios.md shows it: its commands, its exit codes, what it writes."""

import json
import os
import re
import tempfile
import unittest

from market import run_abacus

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENT = os.path.join(ROOT, "docs/reference/scenarios.md")


class SimTest(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="abacus-sim-"))
        os.symlink(os.path.join(ROOT, "scenarios"), os.path.join(self.folder, "scenarios"))

    def sim(self, *arguments):
        return run_abacus("sim", *arguments, timeout_s=120, cwd=self.folder)

    def written(self, name, text=None):
        """The path of a file; with a text, it is written first."""
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        return path

    def test_the_commands_of_the_document(self):
        with open(DOCUMENT) as file:
            commands = re.findall(r"^    abacus sim (.+)$", file.read(), re.MULTILINE)
        self.assertEqual(len(commands), 3)
        for command in commands:
            result = self.sim(*command.split())
            self.assertEqual(result.returncode, 0, command + "\n" + result.stdout + result.stderr)
        with open(self.written("runs.json")) as file:
            self.assertEqual([run["seed"] for run in json.load(file)], list(range(1, 21)))
        with open(self.written("trace.jsonl")) as file:
            self.assertLessEqual({"send", "receive", "launch", "task ended"}, {json.loads(line)["what"] for line in file})

    def test_a_run_that_fails_is_made_smaller_and_fails_again(self):
        with open(os.path.join(ROOT, "scenarios/two-regions.yaml")) as file:
            tight = file.read().replace("messages_per_placement_max: 8", "messages_per_placement_max: 1")
        failed = self.sim(self.written("tight.yaml", tight), "--seed", "2")
        self.assertEqual(failed.returncode, 1, failed.stdout + failed.stderr)
        self.assertIn("again: abacus sim ", failed.stdout)
        again = self.sim("tight-seed-2.json", "--no-shrink")
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        with open(self.written("tight-seed-2.json")) as file:
            self.assertLess(len(json.load(file)["plan"]["jobs"]), 40)

    def test_mistakes_are_named(self):
        for arguments, code, words in (
                (["nowhere.yaml"], 123, "cannot read nowhere.yaml"),
                ([self.written("bad.yaml", "nodse: []\n")], 2, "did you mean 'nodes'"),
                (["scenarios/two-regions.yaml", "--seeds", "9-3"], 2, "FIRST-LAST"),
                (["scenarios/two-regions.yaml", "--seed", "18446744073709551615"], 2, "is no seed"),
                (["scenarios/two-regions.yaml", "--seeds", "1-2", "--trace", "t"], 2, "--trace"),
                (["scenarios/two-regions.yaml", "--json", "no/such/folder"], 123, "cannot write no/such/folder")):
            result = self.sim(*arguments)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main()
