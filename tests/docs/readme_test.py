"""Runs every command of README.md, in order, in homes of its own; checks that the Chinese twin has the same commands.

Addresses are replaced by loopback ones, "# on ..." comments change the machine (a home), agents in the background are
ended at the end, and scripts that build or install are only asked for their usage."""
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(sys.argv[1])
PROGRAM = pathlib.Path(sys.argv[2])
LIMIT_S = 60 * int(os.environ.get("ABACUS_SLOW", "1"))


def blocks(text):
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Readme(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="abacus-readme-")
        self.agents = []
        self.token = ""
        self.ports = {"192.0.2.10:7411": f"127.0.0.1:{free_port()}", "192.0.2.11:7411": f"127.0.0.1:{free_port()}"}

    def tearDown(self):
        for agent in self.agents:
            agent.send_signal(signal.SIGTERM)
        for agent in self.agents:
            agent.wait(timeout=LIMIT_S)
        self.place.cleanup()

    def environment(self, machine):
        home = pathlib.Path(self.place.name) / machine
        home.mkdir(exist_ok=True)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("ABACUS_") and k != "XDG_DATA_HOME"}
        return kept | {"HOME": str(home), "TOKEN": self.token, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}

    def run_line(self, line, machine):
        for address, replacement in self.ports.items():
            line = line.replace(address, replacement)
        if line.startswith("export PATH"):
            return
        if line in ("scripts/quickstart", "scripts/build"):
            line += " --help"
        if line.endswith("&"):
            return self.run_agent(line.removesuffix("&"), machine)
        done = subprocess.run(["bash", "-c", line], cwd=ROOT, env=self.environment(machine), timeout=LIMIT_S,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
        if found := re.search(r"abacus1_[\w-]+", done.stdout):
            self.token = found.group()

    def run_agent(self, line, machine):
        log = open(pathlib.Path(self.place.name) / f"{machine}.log", "wb")
        self.agents.append(subprocess.Popen(shlex.split(line), cwd=ROOT, env=self.environment(machine), stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL))
        log.close()
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            asked = subprocess.run(["abacus", "nodes"], env=self.environment(machine), capture_output=True, text=True,
                                   check=False)
            if asked.returncode == 0 and len(asked.stdout.splitlines()) == 1 + len(self.agents):
                return
            time.sleep(0.1)
        self.fail(f"{line}: the agents do not see each other\n{asked.stdout}{asked.stderr}")

    def test_every_command_works(self):
        commands = 0
        for number, block in enumerate(blocks((ROOT / "README.md").read_text())):
            machine = f"block{number}"
            for line in block.splitlines():
                if line.startswith("# on "):
                    machine = re.sub(r"\W+", "-", line[5:])[:20]
                elif line:
                    self.run_line(line, machine)
                    commands += 1
        self.assertGreater(commands, 15)

    def test_the_chinese_twin_has_the_same_commands(self):
        self.assertEqual(blocks((ROOT / "README.md").read_text()), blocks((ROOT / "README.zh-CN.md").read_text()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
