"""What goes wrong gets a clear sentence; strangers and noise get nothing; an agent that is told to stop comes back."""

import os
import shutil
import signal
import socket
import struct
import subprocess
import time
import unittest

import processes
import stranger
from market import ABACUS, Market, bound, free_port, must, run_abacus, wait_until

USAGE = 2
UNREACHABLE = 122
OTHER = 123
CRASH_WORDS = ("Traceback", "terminate called", "what():", "CHECK", "Aborted", "Sanitizer", "Segmentation")


class ErrorsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.market = cls.enterClassContext(Market(2, ("south", "north")))
        cls.first = cls.market.agents[0]

    def path(self, name):
        return os.path.join(self.market.directory, f"{self.id().rsplit('.', maxsplit=1)[-1]}-{name}")

    def check_refused(self, result, code, *words):
        """Ended with `code` and with one sentence that holds all `words`."""
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("abacus: "), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        for word in CRASH_WORDS:
            self.assertNotIn(word, result.stderr)

    def run_agent(self, directory, *arguments):
        return run_abacus("agent", "--data-dir", directory, *arguments, env=self.market.env(), timeout_s=20)

    def join(self, endpoint, token, name="joiner"):
        return run_abacus("join", endpoint, "--token", token, "--data-dir", self.path(name), env=self.market.env())

    def make_member(self, organisation, name):
        """A node of its own in a new organisation, or with None in this market's. Nobody runs it."""
        if organisation:
            must(run_abacus("org", "init", "--name", organisation, "--data-dir", self.path(name),
                            env=self.market.env()))
        else:
            token = must(self.market.run(0, "org", "token", "--quiet")).stdout.strip()
            must(self.join(self.first.endpoint, token, name))
        return self.path(name)

    def log(self):
        return self.first.log()

    def check_alive(self):
        """The first agent is the same process still, answers, and buys."""
        self.assertTrue(self.first.is_up(), self.first.log_tail())
        self.assertEqual(self.first.get("/v1/info")["pid"], self.first.process.pid)
        must(self.market.run(0, "run", "--cpu", "0.5", "--", "true"))

    # ---- the command line

    def test_wrong_flags(self):
        run = self.market.run
        self.check_refused(run(0, "run", "--cpuu", "3", "--", "true"), USAGE, "unknown option --cpuu", "--cpu?")
        self.check_refused(run(0, "frobnicate"), USAGE, "unknown command frobnicate", "abacus --help")
        self.check_refused(run(0, "run", "--memory", "lots", "--", "true"), USAGE, "memory", "'lots'", "4GiB")
        self.check_refused(run(0, "run"), USAGE, "command", "-- echo hello")
        self.check_refused(run(0, "show", "nonsense"), USAGE, "'nonsense'", "abacus ps")
        self.check_refused(run(0, "show", "123456789abc"), OTHER, "no job 123456789abc")
        self.check_refused(run(0, "run", "--input", "/no/such", "--", "true"), USAGE, "/no/such", "no such file")

    def test_an_agent_without_its_shim(self):
        alone = self.path("program")
        shutil.copy2(ABACUS, alone)
        directory = self.make_member("lonely", "member")
        result = subprocess.run([alone, "agent", "--data-dir", directory, "--listen", "127.0.0.1:0"],
                                capture_output=True, text=True, timeout=bound(20), env=self.market.env())
        self.check_refused(result, OTHER, os.path.join(self.market.directory, "abacus-shim"), "beside")

    def test_an_agent_that_is_not_there(self):
        nowhere = self.path("nowhere")
        self.check_refused(self.market.run(0, "ps", "--agent", nowhere), UNREACHABLE, nowhere, "abacus agent")
        self.check_refused(run_abacus("ps", env=self.market.env()), UNREACHABLE, "no agent runs here", "abacus agent",
                           "abacus dev up", "--agent")

    def test_a_socket_that_a_killed_agent_left(self):
        seller = self.market.agents[1]
        seller.kill9()
        self.assertTrue(os.path.exists(seller.socket_path))
        try:
            self.check_refused(self.market.run(1, "ps"), UNREACHABLE, seller.socket_path)
        finally:
            seller.restart()
        self.assertEqual(must(self.market.run(1, "ps", "--json")).returncode, 0)

    # ---- starting an agent

    def test_a_port_in_use(self):
        directory = self.make_member("elsewhere", "org")
        with socket.create_server(("127.0.0.1", free_port())) as taken:
            port = taken.getsockname()[1]
            result = self.run_agent(directory, "--listen", f"127.0.0.1:{port}")
        self.check_refused(result, OTHER, f"port {port}", "taken", "--listen ADDRESS:PORT")

    def test_a_data_directory_in_use(self):
        result = self.run_agent(self.first.directory, "--listen", f"127.0.0.1:{free_port()}")
        self.check_refused(result, OTHER, self.first.directory, f"in use by process {self.first.process.pid}",
                           "another directory")
        self.check_alive()

    def test_an_agent_without_an_identity(self):
        result = self.run_agent(self.path("empty"))
        self.check_refused(result, OTHER, self.path("empty"), "no node identity", "abacus join HOST:PORT")

    def test_wrong_capacities(self):
        for text, words in (("cpu=lots", ("'cpu=lots'", "cpu=2")), ("bananas=3", ("'bananas'", "cpu, memory")),
                            ("cpu=100000", ("this machine has", "cpu=100000!"))):
            with self.subTest(text):
                self.check_refused(self.run_agent(self.path("any"), "--capacity", text), USAGE, "capacity", *words)

    # ---- joining

    def test_tokens_that_are_no_good(self):
        at = self.first.endpoint
        self.check_refused(self.join(at, "garbage"), USAGE, "token", "abacus1_", "abacus org token")
        token = must(self.market.run(0, "org", "token", "--quiet", "--ttl", "1s")).stdout.strip()
        time.sleep(1.2)
        self.check_refused(self.join(at, token), OTHER, "token expired", "new one")
        token = must(self.market.run(0, "org", "token", "--quiet")).stdout.strip()
        must(self.join(at, token))
        self.check_refused(self.join(at, token, "second"), OTHER, "token is used up", "new one")
        other = token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")
        self.check_refused(self.join(at, other, "third"), USAGE, "token is damaged", "copy it again")

    def test_joining_where_nobody_is(self):
        token = must(self.market.run(0, "org", "token", "--quiet")).stdout.strip()
        port = free_port()
        self.check_refused(self.join(f"127.0.0.1:{port}", token), UNREACHABLE, f"127.0.0.1:{port}", "connect",
                           "join at a running agent")
        self.check_refused(self.join("somewhere", token), USAGE, "'somewhere'", "HOST:PORT")
        not_the_authority = self.market.agents[1].endpoint
        self.assertEqual(self.join(not_the_authority, token).returncode, OTHER)

    # ---- strangers and noise

    def test_a_stranger_gets_no_protocol_byte(self):
        member = self.make_member(None, "member")
        payload = stranger.frame(b"not a message") * 3
        self.assertFalse(stranger.talk(self.first.port, payload, member, patience_s=1).ended)
        wait_until("a member is heard", lambda: "not a message" in self.log() or "ignored" in self.log(), 5, self.log)
        heard = self.log().count("ignored")
        for directory in (self.make_member("elsewhere", "foreign"), None):
            for alpn in (stranger.CONTROL, stranger.BULK):
                with self.subTest(directory=directory, alpn=alpn):
                    outcome = stranger.talk(self.first.port, payload, directory, alpn)
                    self.assertEqual((outcome.received, outcome.ended), (b"", True))
        self.assertEqual(self.log().count("ignored"), heard, "a stranger was heard")
        self.check_alive()

    def test_noise_without_tls(self):
        alert = 0x15
        for noise in (b"GET / HTTP/1.1\r\n\r\n", os.urandom(4096), b"", b"\x16\x03\x01\x40\x00" + b"\0" * 100):
            outcome = stranger.talk_plainly(self.first.port, noise)
            self.assertTrue(outcome.ended)
            self.assertTrue(not outcome.received or outcome.received[0] == alert, outcome.received)
        self.check_alive()

    def test_a_member_that_sends_nonsense(self):
        member = self.make_member(None, "member")
        huge = struct.pack("<I", 0xFFFFFFFF) + b"x" * 1000
        above = struct.pack("<I", (1 << 20) + 1)
        self.assertTrue(stranger.talk(self.first.port, huge, member).ended, "an oversized frame ends the connection")
        self.assertTrue(stranger.talk(self.first.port, above, member).ended)
        for body in (b"", b"\xff" * 100, b"\x9f" * 5000, b"\x84\x01\x02", os.urandom(60_000)):
            stranger.talk(self.first.port, stranger.frame(body), member, patience_s=0.3)
        for alpn in (stranger.BULK, stranger.ENROL):
            for payload in (huge, stranger.frame(os.urandom(500))):
                stranger.talk(self.first.port, payload, member, alpn, patience_s=0.3)
        stranger.talk(self.first.port, struct.pack("<I", 1000) + b"half", member, patience_s=0.3)
        self.check_alive()

    # ---- stopping and coming back

    def test_work_goes_on_while_its_agent_is_stopped(self):
        mark = self.path("lines")
        script = f'echo begin >> "$LINES"; sleep {bound(4):g}; echo end >> "$LINES"; exit 5'
        job = self.market.submit(0, command=["sh", "-c", script], regions=["north"], cpu="0.5",
                                 environment={"LINES": mark})
        wait_until("the task runs", lambda: os.path.exists(mark), 20)
        seller = self.market.agents[1]
        seller.signal(signal.SIGTERM)
        seller.wait_for_end()
        self.assertEqual(seller.process.returncode, 0, seller.log_tail())
        self.assertTrue(os.listdir(seller.directory + "/leases"))
        self.assertTrue(processes.marked(mark), "the task ended with its agent")
        seller.restart()
        self.market.wait_for_job(0, job, 30)
        task = self.market.tasks(0, job)[0]
        self.assertEqual((task["attempt"], task["seller"], task["end"]["kind"], task["end"]["exit_code"]),
                         (1, seller.node, "exited", 5))
        with open(mark) as file:
            self.assertEqual(file.read().split(), ["begin", "end"])
        self.assertEqual(processes.wait_until_gone(mark, bound(10)), {})


if __name__ == "__main__":
    unittest.main()
