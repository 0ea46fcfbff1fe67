"""A reward service by script: each request takes the next answer."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GOOD = {
    "reward": 0.7,
    "score": 0.7,
    "parts": {"right": 1.0, "rude": 0.0},
    "components": {"right": 0.5, "rude": 0.0},
    "nulls": {"positive": 1, "negative": 0},
    "counts": {"positive": 3, "negative": 1},
}


class FakeService:
    """`script`: functions of (handler, body) for the next POSTs; then every item gets GOOD. `ready`: the status of readyz, `problem`: why not,
    `unready`: how often it says 503 before that, `prefix`: the path that the service is behind."""

    def __init__(self):
        self.script, self.bodies, self.authorizations, self.checks, self.ready = [], [], [], 0, 200
        self.prefix, self.problem, self.unready = "", "no such host", 0
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if self.path != f"{service.prefix}/readyz":
                    self.answer(404, {"error": {"message": "no such route"}})
                    return
                service.checks += 1
                status = 503 if service.checks <= service.unready else service.ready
                self.answer(status, {"ready": status == 200, "checks": {"judge": service.problem}})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                service.bodies.append(body)
                service.authorizations.append(self.headers["authorization"])
                act = service.script.pop(0) if service.script else None
                if act:
                    act(self, body)
                else:
                    self.answer(200, {"results": [GOOD for _ in body["items"]]})

            def answer(self, status, payload, headers=()):
                data = json.dumps(payload).encode()
                self.send_response(status)
                for name, value in (*headers, ("content-length", str(len(data)))):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1/grade"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def status(code, headers=()):
    """An answer with this status."""
    return lambda handler, _body: handler.answer(code, {"error": {"message": "busy"}}, headers)


def cut(handler, _body):
    """The connection ends without an answer."""
    handler.close_connection = True
    handler.connection.close()
