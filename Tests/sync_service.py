"""A service of notes over HTTP for tests of writing offline. It knows keys, refuses a change that was made on
another version, and counts how often it applied each key. Some answers are lost and some calls fail, as in real networks.
"""
import http.server
import json
import random
import sys
import threading
import urllib.parse


class Service:
    def __init__(self, seed, trouble=0.0):
        self.lock = threading.Lock()
        self.dice = random.Random(seed)
        self.trouble = trouble
        self.notes, self.changes, self.answers, self.applied = {}, [], {}, {}
        self.clock = 1_000_000
        self.calls = 0

    def list(self, since, cursor, limit):
        found = [change for change in self.changes if since is None or change[1] > since]
        latest = {}
        for name, at in found:
            latest[name] = at
        names = sorted(latest, key=lambda name: latest[name])
        page = names[cursor:cursor + limit]
        more = cursor + limit < len(names)
        return {
            "notes": [self.notes[name] for name in page if name in self.notes],
            "deleted": [name for name in page if name not in self.notes],
            "next": str(cursor + limit) if more else None, "now": self.clock,
        }

    def change(self, method, name, key, version, text):
        """Returns the status and the answer to a change."""
        if key in self.answers:
            return self.answers[key]
        known = self.notes.get(name)
        if method in ("PATCH", "DELETE") and known is None:
            return 404, None
        if known is not None and version is not None and version != str(known["v"]):
            return 412, known
        if method == "POST" and name in self.notes:
            return 409, known
        self.clock += 1
        if method == "DELETE":
            del self.notes[name]
            answer = 204, None
        else:
            note = dict(known or {}) | json.loads(text)
            note = {member: value for member, value in note.items() if value is not None}
            note["v"] = (known["v"] if known else 0) + 1
            self.notes[name] = note
            answer = (201 if method == "POST" else 200), note
        self.changes.append((name, self.clock))
        self.applied[key] = self.applied.get(key, 0) + 1
        self.answers[key] = answer
        return answer


def handler(service):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def reply(self, status, body):
            data = b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def answer(self):
            url = urllib.parse.urlsplit(self.path)
            query = dict(urllib.parse.parse_qsl(url.query))
            parts = [urllib.parse.unquote(part) for part in url.path.split("/") if part]
            name = parts[1] if len(parts) > 1 else None
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            with service.lock:
                service.calls += 1
                luck = service.dice.random()
                if luck < service.trouble / 2:
                    status, body = 503, None
                elif self.command == "GET":
                    if name is None:
                        since = int(query["since"]) if "since" in query else None
                        status, body = 200, service.list(since, int(query.get("cursor", 0)), int(query.get("limit", 100)))
                    else:
                        body = service.notes.get(name)
                        status = 200 if body else 404
                else:
                    name = name or json.loads(text)["id"]
                    key, version = self.headers.get("Idempotency-Key"), self.headers.get("If-Match")
                    status, body = service.change(self.command, name, key, version, text)
                isLost = service.trouble / 2 <= luck < service.trouble
            if isLost:
                self.close_connection = True
                self.connection.close()
                return
            self.reply(status, body)

        do_GET = do_POST = do_PATCH = do_DELETE = answer

    return Handler


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Says nothing: clients are killed."""


def start(seed, trouble=0.0, port=0):
    """Returns a service and the server that runs it."""
    service = Service(seed, trouble)
    server = Server(("127.0.0.1", port), handler(service))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return service, server


if __name__ == "__main__":
    # Runs until it is killed. Prints the port first.
    _, running = start(seed=1, port=int(sys.argv[1]))
    print(running.server_address[1], flush=True)
    threading.Event().wait()
