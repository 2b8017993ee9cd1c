"""What a real agent did, killed and restarted in between, is replayed from its recording: same decisions, same story."""

import json
import os
import re
import tempfile
import unittest

from market import Market, must, run_abacus, wait_until

TASKS = 20
OTHER = 123


class ReplayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="abacus-replay-"))
        cls.recording = os.path.join(directory, "recording")
        cls.torn = os.path.join(directory, "torn")
        cls.damaged = os.path.join(directory, "damaged")
        with Market(3, ("north", "south", "south"), options=lambda i: ["--record", f"{cls.recording}-{i}"]) as market:
            cls.live(market)
        cls.recording += "-0"

    @classmethod
    def live(cls, market):
        """A job to its end, a kill -9 under load, a restart, and the end of the second job."""
        cls.first = market.submit(0, command=["true"], cpu=0.5, array=f"0-{TASKS - 1}")
        market.wait_for_job(0, cls.first)
        cls.explained = must(market.run(0, "explain", cls.first)).stdout
        cls.second = market.submit(0, command=["sleep", "0.3"], cpu=0.5, array=f"0-{TASKS - 1}")
        wait_until("some of it has run", lambda: market.agents[0].get(f"/v1/jobs/{cls.second}")["succeeded"] > 0, 20)
        market.agents[0].kill9()
        market.agents[0].restart()
        market.wait_for_job(0, cls.second)
        cls.seller = market.tasks(0, cls.first)[0]["seller"]

    def replay(self, *arguments):
        return must(run_abacus("replay", self.recording, *arguments)).stdout

    def steps(self, *arguments):
        """The steps and the outcome."""
        *steps, outcome = map(json.loads, self.replay("--json", *arguments).splitlines())
        return steps, outcome

    def copy(self, path, change):
        with open(self.recording, "rb") as file:
            content = bytearray(file.read())
        with open(path, "wb") as file:
            file.write(change(content))
        return run_abacus("replay", "--quiet", path)

    def test_every_agent_decides_the_same_again(self):
        for i in range(3):
            with self.subTest(agent=i):
                text = must(run_abacus("replay", "--quiet", f"{self.recording[:-1]}{i}")).stdout
                self.assertRegex(text, r"^\d+ events replayed in \d+ runs? of the node.*, equal to what was recorded")

    def test_both_runs_are_replayed_with_every_event(self):
        steps, outcome = self.steps()
        self.assertTrue(outcome["equal"])
        self.assertEqual(outcome["runs"], 2)
        self.assertEqual(len(steps), outcome["events"] + outcome["runs"])
        kinds = {step["event"]["kind"] for step in steps if "event" in step}
        for kind in ("MessageReceived", "WakeUp", "OfferSigned", "RunsAdopted", "ContactsGiven", "SubmitJob"):
            self.assertIn(kind, kinds)
        starts = [step["start"]["epoch"] for step in steps if "start" in step]
        self.assertEqual(starts[1], starts[0] + 1)

    def test_the_story_of_a_task_is_told(self):
        text = self.replay("--task", f"{self.first}.3")
        for word in ("SubmitJob", "Rfq to", "Quote from", "Accept from", "put TaskRecord", f"{self.first}.3#1", "Done from",
                     self.seller[:8]):
            self.assertIn(word, text)
        self.assertNotIn(self.second, text)
        self.assertIn(self.second, self.replay("--job", self.second))

    def test_why_explains_as_the_agent_did_then(self):
        steps, _outcome = self.steps("--job", self.second)
        submitted = next(step["entry"] for step in steps if "event" in step)
        text = self.replay("--quiet", "--task", self.first, "--until", str(submitted - 1), "--why")
        # The same negotiation, line by line; what leases did afterwards may go on after the agent was asked.
        episode = re.search(r"episode 1.*?(?=\n\n|\Z)", self.explained, re.DOTALL).group(0)
        self.assertIn(episode.rstrip(), text)
        self.assertIn(f"task {self.first}.0: ", text)

    def test_it_stops_where_it_is_told(self):
        steps, outcome = self.steps("--until", "10")
        self.assertLessEqual(steps[-1]["entry"], 10)
        self.assertTrue(outcome["equal"])
        text = self.replay("--until", "2001-01-01T00:00:00Z", "--quiet")
        self.assertRegex(text, r"^0 events replayed")

    def test_a_torn_tail_is_named_and_the_rest_is_replayed(self):
        result = self.copy(self.torn, lambda content: content[:-5])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"ends in the middle of entry \d+, after \d\d:\d\d:\d\d\.\d+; \d+ bytes left out")
        self.assertIn("equal to what was recorded", result.stdout)

    def test_damage_in_the_middle_is_named_and_never_skipped(self):
        def damage(content):
            content[len(content) // 2] ^= 1
            return content
        result = self.copy(self.damaged, damage)
        self.assertEqual(result.returncode, OTHER)
        self.assertRegex(result.stderr, r"entry \d+ at byte \d+: ")
        self.assertRegex(result.stdout, r"^\d+ events replayed")

    def test_a_recording_is_for_its_owner(self):
        self.assertEqual(os.stat(self.recording).st_mode & 0o777, 0o600)


if __name__ == "__main__":
    unittest.main()
