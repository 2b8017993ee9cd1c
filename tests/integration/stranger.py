"""Raw TLS clients at an agent's port: they show a certificate or none, send bytes, and see what comes back."""

import socket
import ssl
import struct

from market import bound

CONTROL, BULK, ENROL = "abacus/1", "abacus-bulk/1", "abacus-enrol/1"


def frame(body):
    return struct.pack("<I", len(body)) + body


class Outcome:
    """What came back: bytes of the protocol, and whether the agent ended the connection."""

    def __init__(self):
        self.received = b""
        self.ended = False


def _context(directory, *alpn):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(alpn)
    if directory:
        context.load_cert_chain(directory + "/node.crt", directory + "/node.key")
    return context


def talk(port, payload, directory=None, alpn=CONTROL, patience_s=3):
    """Sends `payload` as the node whose data directory is given, and listens to the end, or for bound(patience_s)."""
    outcome = Outcome()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=bound(patience_s)) as raw:
            with _context(directory, alpn).wrap_socket(raw) as tls:
                tls.sendall(payload)
                while piece := tls.recv(4096):
                    outcome.received += piece
        outcome.ended = True
    except TimeoutError:
        pass
    except (ssl.SSLError, ConnectionError):
        outcome.ended = True
    return outcome


def talk_plainly(port, payload, patience_s=3):
    """The same without TLS."""
    outcome = Outcome()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=bound(patience_s)) as raw:
            raw.sendall(payload)
            raw.shutdown(socket.SHUT_WR)
            while piece := raw.recv(4096):
                outcome.received += piece
        outcome.ended = True
    except TimeoutError:
        pass
    except ConnectionError:
        outcome.ended = True
    return outcome


class Visitor:
    """A member's connection that a test speaks for itself, frame by frame. A context manager."""

    def __init__(self, port, directory, *alpn, patience_s=5):
        self._tls = _context(directory, *alpn).wrap_socket(
            socket.create_connection(("127.0.0.1", port), timeout=bound(patience_s)))

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self._tls.close()

    def protocol(self):
        return self._tls.selected_alpn_protocol()

    def send(self, body):
        self._tls.sendall(frame(body))

    def receive(self):
        """The body of the next frame."""
        return self._exactly(struct.unpack("<I", self._exactly(4))[0])

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            piece = self._tls.recv(size - len(data))
            if not piece:
                raise ConnectionError("the agent ended the connection")
            data += piece
        return data
