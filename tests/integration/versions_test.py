"""Agents of two versions side by side: what both know they say in the common version, or refuse with the reason."""

import os
import unittest

import cbor
import stranger
from market import ABACUS, Market, must, run_abacus, wait_until

OTHER = os.environ.get("ABACUS_OTHER_BIN", "")

PING, PING_ACK, FROM_THE_FUTURE = 7, 8, 999  # Positions in the list of messages (src/protocol/message.h).
TRACE = [bytes(16), bytes(8)]


def envelope(position, *fields):
    return cbor.encode([[position, list(fields)], TRACE])


class VersionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.market = cls.enterClassContext(Market(1))
        cls.agent = cls.market.agents[0]
        cls.member = os.path.join(cls.market.directory, "member")
        must(run_abacus("join", cls.agent.endpoint, "--token", cls.market.token(), "--data-dir", cls.member,
                        env=cls.market.env()))

    def visit(self, *alpn):
        return self.enterContext(stranger.Visitor(self.agent.port, self.member, *alpn))

    def pong(self, visitor):
        """The fields of the next PingAck; the agent says other things too."""
        for _ in range(100):
            (position, fields), *_ = cbor.decode(visitor.receive())
            if position == PING_ACK:
                return fields
        self.fail("no PingAck among 100 messages")

    def test_a_newer_agent_is_answered_in_the_common_version(self):
        newer = self.visit("abacus/2", stranger.CONTROL)
        self.assertEqual(newer.protocol(), stranger.CONTROL)
        newer.send(envelope(PING, 7, [], "a field that this version does not know", [1, 2]))
        self.assertEqual(self.pong(newer)[0], 7)

    def test_a_message_from_the_future_is_passed_over_and_the_talk_goes_on(self):
        newer = self.visit("abacus/2", stranger.CONTROL)
        newer.send(envelope(FROM_THE_FUTURE, 1, b"2", "three"))
        newer.send(envelope(PING, 8, []))
        self.assertEqual(self.pong(newer)[0], 8)
        self.assertIn(f"unknown alternative {FROM_THE_FUTURE}", self.agent.log())

    def test_an_older_agent_leaves_out_what_it_does_not_know(self):
        older = self.visit(stranger.CONTROL)
        older.send(envelope(PING, 9))
        self.assertEqual(self.pong(older)[0], 9)

    def test_without_a_common_version_both_sides_learn_why(self):
        outcome = stranger.talk(self.agent.port, b"", self.member, "abacus/2")
        self.assertTrue(outcome.ended)
        self.assertEqual(outcome.received, b"")
        wait_until("the reason is logged", lambda: "it offers abacus/2" in self.agent.log(), 5, self.agent.log_tail)
        self.assertIn("this version speaks abacus/1", self.agent.log())

    @unittest.skipUnless(OTHER, "ABACUS_OTHER_BIN names no program of another version (scripts/test --long builds one)")
    def test_a_market_of_two_builds(self):
        with Market(6, ("north", "south"), binary=lambda i: OTHER if i % 2 else ABACUS) as market:
            jobs = [(buyer, market.submit(buyer, command=["sleep", "0.3"], array="0-59", cpu="1", memory="32MiB"))
                    for buyer in (0, 1)]
            for buyer, job in jobs:
                self.assertEqual(market.wait_for_job(buyer, job)["succeeded"], 60)
                builds = {market.index_of(task["seller"]) % 2 for task in market.tasks(buyer, job)}
                self.assertEqual(builds, {0, 1}, "both builds run work for it")


if __name__ == "__main__":
    unittest.main()
