"""A web server, a team and apps for `Tests/channel`."""
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time

NAMES = ["catalog", "feed", "images"]
SECRETS = {
    "CANARY_FIELD": "canary-field-7c1e", "CANARY_QUERY": "canary-query-90d2", "CANARY_UNUSED": "canary-unused-5b77"}
said = []




def fail(reason):
    sys.exit(f"Tests/channel: {reason}")


def find(program, package):
    """Finds a program or installs its package. Returns its path, or the reason why there is none as a second value."""
    path = shutil.which(program) or (f"/usr/sbin/{program}" if os.path.exists(f"/usr/sbin/{program}") else None)
    if path or install(package):
        return path or shutil.which(program) or f"/usr/sbin/{program}", None
    return None, f"{program} is missing and cannot be installed"


def install(package):
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    # At run level 1, the package's own server is not started.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    return all(
        subprocess.run(["apt-get", *words], env=environment, capture_output=True).returncode == 0
        for words in (["update"], ["install", "-y", "--no-install-recommends", package]))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path


CONFIGURATION = """
{user}
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  log_format channel '$status $bytes_sent $request_uri';
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    access_log {folder}/access.log channel;
    location / {{ root {folder}/files; }}
    location /slow/ {{ alias {folder}/files/; limit_rate 8k; sendfile off; output_buffers 1 4k; }}
    location /down/ {{ access_log off; return 503; }}
  }}
}}
"""


class Server:
    """nginx with the files of a channel."""

    def __init__(self, nginx, folder):
        self.folder, self.files = folder, os.path.join(folder, "files")
        os.makedirs(self.files)
        os.chmod(folder, 0o755)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        user = "user root;" if os.geteuid() == 0 else ""
        path = write(os.path.join(folder, "nginx.conf"), CONFIGURATION.format(folder=folder, port=self.port, user=user))
        log = os.path.join(folder, "error.log")
        self.process = subprocess.Popen([nginx, "-c", path, "-p", folder, "-e", log], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                break
            if self.process.poll() is not None or time.monotonic() > end:
                fail("nginx does not start\n" + read(log).decode())
            time.sleep(0.05)
        self.uploads = 0

    def upload(self, name, data, in_place=False):
        """Puts a file on the server, in one step unless `in_place`."""
        path = os.path.join(self.files, name)
        write(path if in_place else path + ".new", data)
        if not in_place:
            os.rename(path + ".new", path)
        # nginx makes an ETag of the time in seconds and the size. Here, two uploads come within one second.
        self.uploads += 1
        os.utime(path, (1_700_000_000 + self.uploads,) * 2)

    def requests(self):
        """The status, the size of the answer and the file of each request since the last call."""
        path = os.path.join(self.folder, "access.log")
        lines = [line.split(" ") for line in read(path).decode().splitlines()]
        os.truncate(path, 0)
        return [(int(status), int(size), name.rsplit("/", 1)[1]) for status, size, name in lines]

    def end(self):
        self.process.terminate()
        self.process.wait()


class Team:
    """Makes editions and channels by the commands."""

    def __init__(self, folder, server, larder, runner):
        self.folder, self.server, self.larder, self.runner = folder, server, larder, runner
        self.release = self.run("edition", "key", "--out", self.at("release.pem")).strip()
        self.steer = self.run("edition", "key", "--out", self.at("steer.pem")).strip()
        self.channels = {}

    def at(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, code=0):
        done = subprocess.run(
            [self.larder, *words], capture_output=True, text=True, env={**os.environ, **SECRETS}, cwd=self.folder)
        said.append(done.stdout + done.stderr)
        if done.returncode != code:
            fail(f"larder {' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def policy(self, name, number, size=0, **members):
        """A policy whose service is down, so that each answer is `number`."""
        origin = {
            "use": "http", "url": f"http://127.0.0.1:{self.server.port}/down/{name}?key=${{CANARY_QUERY}}",
            "fields": {"X-Key": "${CANARY_FIELD}"},
        }
        store = {"catalog": "memory", "feed": "file", "images": "memory"}.get(name, "memory")
        return {
            "resource": name, "about": "an edition" + "." * size, "origin": origin,
            "around": [{"use": "timeout", "after": "5s"}], "strategy": "network-first",
            "validators": [{"use": "age", "fresh": "1m", "onError": "1d"}, "checksum"],
            "store": store, "fallbacks": [{"use": "constant", "value": number}], **members,
        }

    def own(self, folder, path="", **settings):
        """Writes the policies that come with the app. Their number is 0."""
        os.makedirs(folder)
        for name in NAMES:
            write(os.path.join(folder, name + ".json"), json.dumps(self.policy(name, 0)))
        channel = {
            "name": "shop",
            "origin": {"use": "http", "url": f"http://127.0.0.1:{self.server.port}/{path}{{file}}"},
            "every": "10s", "release": [self.release], "steer": [self.steer], **settings,
        }
        write(os.path.join(folder, "_larder.json"), json.dumps(
            {"channel": channel, "metrics": {"file": "metrics.json"}, "log": {"file": "decisions.jsonl"}}))
        return folder

    def edition(self, number, **members):
        """Makes and signs an edition whose policies all answer with its number."""
        policies = self.at(f"Policies-{number}")
        os.makedirs(policies)
        for name in NAMES:
            write(os.path.join(policies, name + ".json"), json.dumps(self.policy(name, number, **members)))
        self.run("edition", "new", policies, "--channel", "shop", "--number", str(number))
        return self.sign(number)

    def sign(self, number, name="shop"):
        self.run("edition", "sign", f"{name}-{number}.edition.json", "--key", "release.pem")
        return self.upload(f"{name}-{number}.edition")

    def upload(self, name):
        self.server.upload(name, read(self.at(name)))
        return name

    def channel(self, *words, name="shop.channel"):
        """Changes the channel, uploads it, and returns its bytes."""
        command, *rest = words
        key = "release.pem" if command == "publish" else "steer.pem"
        self.run("channel", command, name, *rest, "--key", key, "--keys", f"{self.release},{self.steer}")
        self.upload(name)
        return read(self.at(name))

    def publish(self, number, share="100%", *words, name="shop"):
        file = name + ".channel"
        new = [] if os.path.exists(self.at(file)) else ["--new"]
        return self.channel("publish", f"{name}-{number}.edition", "--share", share, *new, *words, name=file)

    def begin(self):
        """Takes all editions back. The revision goes on."""
        if os.path.exists(self.at("shop.channel")):
            listed = json.loads(self.run("channel", "status", "shop.channel", "--json"))["editions"]
            if any(item["share"] for item in listed):
                self.channel("halt", "--to", "embedded")


class App:
    """A folder with an app, and its process."""

    count = 0

    def __init__(self, team, folder, data=None, path="", **settings):
        self.folder, self.process, self.runner = folder, None, team.runner
        team.own(os.path.join(folder, "policies"), path, **settings)
        if data:
            os.symlink(data, os.path.join(folder, "data"))

    def start(self, says=True, prefix=(), **environment):
        App.count += 1
        with open(os.path.join(self.folder, f"errors-{App.count}"), "wb") as errors:
            self.process = subprocess.Popen(
                [*prefix, self.runner, self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                text=True, env={**os.environ, **SECRETS, "SWIFT_BACKTRACE": "enable=no", **environment})
        return self.says() if says else None

    def tell(self, line):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()

    def says(self):
        """The next state; None if the process has ended."""
        line = self.process.stdout.readline()
        said.append(line)
        state = json.loads(line) if line.endswith("\n") else None
        if state and (state["failed"] or state["mixed"]):
            fail(f"{self.folder}: {state}")
        return state

    def ask(self, line):
        self.tell(line)
        return self.says()

    def expect(self, line, *numbers):
        """Fails unless an edition of `numbers` runs after a line of input."""
        state = self.ask(line)
        if state is None or state["running"] not in numbers:
            names = [name for name in os.listdir(self.folder) if name.startswith("errors-")]
            errors = "".join(read(os.path.join(self.folder, name)).decode() for name in names)
            fail(f"after '{line}' runs {state and state['running']}, not {numbers}\n{self.state()}\n{errors}")
        return state

    def answers(self, *numbers):
        """Fails unless the answers are those of the edition that runs, which is one of `numbers`."""
        state = self.expect("load 1", *numbers)
        if state["answers"][-1] != str(state["running"]):
            fail(f"edition {state['running']} runs, but the answers are {state['answers']}")

    def confirm(self, number):
        """Gets an edition, and lets it prove itself."""
        for line in ("poll", "load 7", "poll", "load 1", "poll"):
            state = self.expect(line, number)
        if state["isTrial"]:
            fail(f"edition {number} is not confirmed: {self.state()}")

    def state(self):
        """What the file of the state says."""
        for root, _, names in os.walk(os.path.join(self.folder, "data"), followlinks=True):
            if "state.json" in names:
                with contextlib.suppress(ValueError, OSError):
                    return json.loads(read(os.path.join(root, "state.json")))
        return {}

    def condemned(self):
        return [item for item in self.state().get("rejected", []) if item["fate"] == "reverted"]

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def close(self):
        self.ask("close")
        if self.process.wait(60) != 0:
            fail(f"{self.folder}: the app ended with {self.process.returncode}")
