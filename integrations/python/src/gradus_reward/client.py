"""The client that all trainers share: JSON over a kept connection, time limits, repeats that honour retry-after."""

import base64
import http.client
import json
import math
import os
import random
import threading
import time
import urllib.parse

_ROUTE = "/v1/grade"
DEFAULT_URL = f"http://127.0.0.1:8700{_ROUTE}"
_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_CHECK_TIMEOUT_S = 10.0
# Between two looks whether the service is ready.
_LOOK_S = 0.5
# A service that wants more time than this is not waited for any longer before it is asked again.
_LONGEST_WAIT_S = 300


class ServiceUnavailable(RuntimeError):
    """The service is not there, cannot grade now, refuses, or did not answer after all attempts."""


def plain(value):
    """What json does not know: arrays and scalars of numpy and torch, else the text of it."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def missing(value):
    """None, and the NaN that tables write for nothing."""
    return value is None or (isinstance(value, float) and value != value)


# Where data sets keep right answers in an object.
_RIGHT = ("target", "ground_truth", "golden_answers", "answers", "answer")


def reference_text(value):
    """A reference answer as text; several, of which any is right, as a JSON list of texts; an object by its right answers, else as JSON."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        key = next((name for name in _RIGHT if name in value), None)
        return json.dumps(value, default=plain) if key is None else reference_text(value[key])
    if not isinstance(value, (list, tuple, set)):
        return str(value)
    texts = [each if isinstance(each, str) else json.dumps(each, default=plain) for each in value]
    return texts[0] if len(texts) == 1 else json.dumps(texts)


def null_share(result):
    """Share of the criteria of a result that have no verdict."""
    return sum(result["nulls"].values()) / max(1, sum(result["counts"].values()))


class GradusClient:
    """Posts JSON to a Gradus reward service. May be used by many threads, forked and pickled.

    url: of a route of kind `grade`. token_env: environment variable of the token. timeout_s: without a byte of an answer, in one attempt.
    attempts: how often a request that may succeed later is sent. ready_s: how long `check`, and so the first request, waits for a service
    that is there and not ready yet.
    """

    def __init__(self, url=DEFAULT_URL, token_env="GRADUS_TOKEN", timeout_s=150.0, attempts=8, ready_s=60.0):
        self.settings = (url, token_env, timeout_s, attempts, ready_s)
        self.url = urllib.parse.urlsplit(url)
        if self.url.scheme not in ("http", "https") or not self.url.hostname:
            shown = "a text with @, which is not shown" if "@" in url else url
            raise ValueError(f"url: expected something like {DEFAULT_URL}, got {shown}")
        self.timeout_s, self.attempts, self.ready_s = timeout_s, attempts, ready_s
        self.headers = {"content-type": "application/json"}
        token = os.environ.get(token_env or "") or self.url.password
        if token:
            pair = base64.b64encode(f"gradus:{urllib.parse.unquote(token)}".encode()).decode()
            self.headers["authorization"] = f"Basic {pair}"
        self._local = threading.local()
        self._checked = False

    def __reduce__(self):  # a copy in another process has connections of its own
        return (GradusClient, self.settings)

    @property
    def address(self):
        """Host and port, as it may be shown: without token."""
        port = f":{self.url.port}" if self.url.port else ""
        return f"{self.url.scheme}://{self.url.hostname}{port}"

    def check(self):
        """Returns nothing when the service can grade. Waits for one that is not ready yet, up to ready_s, then raises ServiceUnavailable
        with what was not; at once where nobody is there, or no such service."""
        until_s = time.monotonic() + self.ready_s
        while problem := self._unready():
            if time.monotonic() >= until_s:
                raise ServiceUnavailable(f"the service at {self.address} was not ready within {self.ready_s:g} s: {problem}")
            time.sleep(_LOOK_S)
        self._checked = True

    def _unready(self):
        """What is not ready, or None. Raises ServiceUnavailable where waiting would not help."""
        connection = self._open(_CHECK_TIMEOUT_S)
        try:
            for path in self._ready_paths():
                connection.request("GET", path, headers=self.headers)
                response = connection.getresponse()
                status, data = response.status, response.read()
                if status != 404:
                    break
        except TimeoutError:
            return f"readyz did not answer within {_CHECK_TIMEOUT_S:g} s"
        except (OSError, http.client.HTTPException) as error:
            raise ServiceUnavailable(
                f"no Gradus reward service at {self.address} ({type(error).__name__}: {error}); "
                "start one: gradus serve reward --config reward.yaml"
            ) from error
        finally:
            connection.close()
        if status in (200, 503):
            return None if status == 200 else _words(status, data)
        raise ServiceUnavailable(f"the service at {self.address} cannot grade now: {_words(status, data)}")

    def grade(self, items, rubric=None, batch=256):
        """Results of items, in their order. Each is {"reward", "score", "parts", "components", "nulls", "counts", ...}.

        items: [{"response", "prompt"?, "reference"?, "rubric"?, "metadata"?}]. rubric: for items without one: a name of the service, or
        a rubric. batch: items in one request. Raises ServiceUnavailable.
        """
        shared = {} if rubric is None else {"rubric": rubric}
        requests = [{**shared, "items": items[i : i + batch]} for i in range(0, len(items), batch)]
        return [result for request in requests for result in self._results(request)]

    def _results(self, request):
        """One result an item: a reward that is none, or that belongs to another item, must not be learnt from."""
        answer = self.post(request)
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list) or len(results) != len(request["items"]):
            got = f"{len(results)} of them" if isinstance(results, list) else type(answer).__name__
            raise ServiceUnavailable(f"{self.address}: expected {len(request['items'])} results of the reward service, got {got}")
        for result in results:
            reward = result.get("reward", "nothing") if isinstance(result, dict) else result
            if reward is not None and not (isinstance(reward, (int, float)) and math.isfinite(reward)):
                raise ServiceUnavailable(f"{self.address}: expected a finite number or null as reward, got {str(reward)[:80]!r}")
        return results

    def post(self, payload):
        """The answer's JSON. Raises ServiceUnavailable when the service refuses, or does not answer after all attempts."""
        if not self._checked:
            self.check()
        body = json.dumps(payload, default=plain).encode()
        problem = ""
        for attempt in range(self.attempts):
            used = self._connection()[1]
            wait_s = random.uniform(0, min(30.0, 0.25 * 2**attempt))
            try:
                status, retry_after, data = self._exchange(body)
            except (OSError, http.client.HTTPException) as error:
                problem = f"{type(error).__name__}: {error}"
                if attempt == 0 and used and not isinstance(error, TimeoutError):
                    wait_s = 0.0  # an idle connection was cut; a fresh one will do
            else:
                if status == 200:
                    return self._read(data)
                problem = _words(status, data)
                if status not in _AGAIN:
                    raise ServiceUnavailable(f"the reward service refused: {problem}")
                if retry_after and retry_after.isascii() and retry_after.isdecimal():
                    wait_s = min(int(retry_after[:9]), _LONGEST_WAIT_S) + random.uniform(0, 1)
            if attempt + 1 < self.attempts:
                time.sleep(wait_s)
        raise ServiceUnavailable(f"no reward after {self.attempts} attempts; the last one: {problem}")

    def _read(self, data):
        try:
            return json.loads(data)
        except ValueError as error:
            raise ServiceUnavailable(
                f"{self.address}: expected JSON of the reward service, got {data[:80].decode(errors='replace')!r}"
            ) from error

    def _open(self, timeout_s):
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        return kind(self.url.hostname, self.url.port, timeout=timeout_s)

    def _ready_paths(self):
        """Where readyz may be, the likeliest first: the service may be behind a path, and its routes may have names of their own."""
        path = self.url.path or _ROUTE
        if path.endswith(_ROUTE):
            return list(dict.fromkeys((f"{path.removesuffix(_ROUTE)}/readyz", "/readyz")))
        parents = path.split("/")[:-1]
        return ["/".join((*parents[:depth], "readyz")) for depth in range(1, len(parents) + 1)]

    def _connection(self):
        """The thread's connection, never one from before a fork; and whether it was used before."""
        kept = getattr(self._local, "kept", None)
        if kept and kept[0] == os.getpid():
            return kept[1], True
        connection = self._open(self.timeout_s)
        self._local.kept = (os.getpid(), connection)
        return connection, False

    def _exchange(self, body):
        connection, _ = self._connection()
        try:
            connection.request("POST", self.url.path or _ROUTE, body, self.headers)
            response = connection.getresponse()
            return response.status, response.getheader("retry-after"), response.read()
        except BaseException:
            connection.close()  # opens again at the next request
            raise


def _words(status, data):
    return f"HTTP {status}: {data[:500].decode(errors='replace')}"
