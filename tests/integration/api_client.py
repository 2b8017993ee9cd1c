"""The agent's HTTP API over its unix socket."""

import http.client
import json
import socket


class ApiError(Exception):
    def __init__(self, status, code, message):
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout_s):
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def request(socket_path, method, path, body=None, timeout_s=60):
    """The answer's JSON. Raises ApiError for an error of the agent's, OSError or HTTPException if it is not there."""
    connection = _UnixConnection(socket_path, timeout_s)
    try:
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {"content-type": "application/json"} if content else {})
        response = connection.getresponse()
        answer = json.loads(response.read())
    finally:
        connection.close()
    if response.status >= 400:
        error = answer["error"]
        raise ApiError(response.status, error["code"], error["message"])
    return answer
