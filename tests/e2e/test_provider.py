"""Ways to a model: through a gateway with a private CA, certificates and other paths, and a proxy that wants a password; and keys that change."""
import base64
import http.server
import json
import signal
import socket
import socketserver
import ssl
import subprocess
import threading
import time
import urllib.request

import pytest
from jobs import events, job, send, wait_ended
from stack import wait_until

PROXY_USER = "drafter:p%40ss word"


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def certificate(folder, name, common_name):
    """NAME.pem with key and certificate, signed by ca.crt."""
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={common_name}")
    (folder / f"{name}.ext").write_text(f"subjectAltName=DNS:{common_name},DNS:models.localhost\n")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-out", f"{name}.crt", "-extfile", f"{name}.ext")
    (folder / f"{name}.pem").write_text((folder / f"{name}.key").read_text() + (folder / f"{name}.crt").read_text())


@pytest.fixture(scope="module")
def pki(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pki")
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.crt", "-days", "2",
            "-subj", "/CN=our CA", "-addext", "basicConstraints=critical,CA:TRUE")
    certificate(folder, "server", "models.test")
    certificate(folder, "client", "a worker")
    return folder


class Gateway(http.server.ThreadingHTTPServer):
    """TLS before the scripted model, for clients with a certificate of our CA; keeps what it was asked. `keys`: those it knows; None is all."""

    def __init__(self, pki, model_url):
        gateway, self.asked, self.keys, self.n_refused = self, [], None, 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                gateway.asked.append((self.path, dict(self.headers)))
                body = self.rfile.read(int(self.headers["Content-Length"]))
                key = self.headers["api-key"]
                if gateway.keys is not None and key not in gateway.keys:
                    gateway.n_refused += 1
                    self.answer(401, json.dumps({"error": {"message": f"no such key: {key}", "code": "invalid_api_key"}}).encode())
                    return
                ask = urllib.request.Request(f"{model_url}/v1/chat/completions", body, {"Content-Type": "application/json", "Authorization": "Bearer test-key"})
                with urllib.request.urlopen(ask, timeout=10) as answer:
                    self.answer(200, answer.read())

            def answer(self, status, text):
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki / "server.pem")
        context.load_verify_locations(pki / "ca.crt")
        context.verify_mode = ssl.CERT_REQUIRED
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def join(here, there):
    """Copies both ways until one end closes."""
    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    back = threading.Thread(target=copy, args=(there, here), daemon=True)
    back.start()
    copy(here, there)
    back.join()


class SocksProxy(socketserver.ThreadingTCPServer):
    """SOCKS 5 with user and password (RFC 1928, RFC 1929), for names alone; every name is this machine."""
    daemon_threads = True

    def __init__(self):
        asked = self.asked = []

        class Handler(socketserver.StreamRequestHandler):
            def text(self):
                return self.rfile.read(self.rfile.read(1)[0])

            def handle(self):
                assert self.rfile.read(1) == b"\5" and 2 in self.text()
                self.wfile.write(b"\5\2")
                assert self.rfile.read(1) == b"\1"
                known = self.text() + b":" + self.text() == PROXY_USER.encode()
                self.wfile.write(b"\1\0" if known else b"\1\1")
                if not known:
                    return
                assert self.rfile.read(4) == b"\5\1\0\3"  # connect to a name
                name, port = self.text(), int.from_bytes(self.rfile.read(2), "big")
                asked.append(name.decode())
                with socket.create_connection(("127.0.0.1", port)) as there:
                    self.wfile.write(b"\5\0\0\1" + bytes(6))
                    join(self.connection, there)

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class ConnectProxy(http.server.ThreadingHTTPServer):
    """CONNECT alone, for whom it knows; every name is this machine. With a certificate it is reached by TLS."""

    def __init__(self, certificate=None):
        asked = self.asked = []
        wanted = "Basic " + base64.b64encode(PROXY_USER.encode()).decode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_CONNECT(self):
                known = self.headers.get("Proxy-Authorization") == wanted
                asked.append((self.path, known))
                if not known:
                    self.send_response(407)
                    self.send_header("Proxy-Authenticate", "Basic")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                with socket.create_connection(("127.0.0.1", int(self.path.rsplit(":", 1)[1]))) as there:
                    self.send_response(200)
                    self.end_headers()
                    join(self.connection, there)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def gateway(pki, stack):
    gateway = Gateway(pki, stack.model.url)
    yield gateway
    gateway.shutdown()


@pytest.fixture(scope="module")
def proxy():
    proxy = ConnectProxy()
    yield proxy
    proxy.shutdown()


@pytest.fixture
def way(gateway, proxy, pki):
    """The environment that leads by proxy to gateway; `without` leaves settings out, `env` changes them."""
    gateway.asked.clear()
    gateway.keys, gateway.n_refused = None, 0
    proxy.asked.clear()

    def way(without=(), **env):
        settings = {
            "BASE_URL": f"https://models.test:{gateway.server_port}", "PATH": "/openai/deployments/{model}/chat/completions",
            "QUERY": "api-version=2024-10-21", "AUTH_HEADER": "api-key", "AUTH_PREFIX": "", "HEADERS": "X-Team: letters",
            "CA_FILE": str(pki / "ca.crt"), "CLIENT_CERT": str(pki / "client.pem"), "PROXY": f"http://127.0.0.1:{proxy.server_port}",
            "PROXY_KEY_ENV": "OUR_PROXY_USER",
        }
        env = {name if name.isupper() and name.startswith(("OPENAI", "OUR_")) else f"DRAFTMILL_PROVIDERS_OPENAI_{name}": str(value)
               for name, value in {**settings, **env}.items() if name not in without}
        return {"OPENAI_API_KEY": "test-key", "OUR_PROXY_USER": PROXY_USER, **env}

    return way


@pytest.fixture
def ask(stack, way):
    """Tries a job that way."""
    def ask(without=(), timeout_s=20, **env):
        return stack.draftmill("try", "--profile", "customer-letter", "-", input=json.dumps(job("p-1")), env=way(without, **env),
                               check=False, timeout_s=timeout_s)

    return ask


def test_a_job_passes_by_proxy_private_ca_client_certificate_and_azures_path(ask, gateway, proxy):
    done = ask()
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    paths = [path for path, _ in gateway.asked]
    assert paths == ["/openai/deployments/gpt-6.2-sol/chat/completions?api-version=2024-10-21",
                     "/openai/deployments/gpt-6-luna/chat/completions?api-version=2024-10-21"]
    for _, headers in gateway.asked:
        assert headers["api-key"] == "test-key" and headers["X-Team"] == "letters"
        assert "Authorization" not in headers and "Proxy-Authorization" not in headers
    assert proxy.asked and all(known for _, known in proxy.asked)
    for secret in ("test-key", "p%40ss"):
        assert secret not in done.stdout + done.stderr


def test_a_server_of_an_unknown_ca_gets_nothing_and_no_job_fails(ask, gateway):
    with pytest.raises(subprocess.TimeoutExpired) as over:
        ask(["CA_FILE"], timeout_s=4)
    output = over.value.stdout.decode()
    assert "attempt failed: unsent" in output and "certificate" in output
    assert "finish" not in output and not gateway.asked


@pytest.mark.parametrize("without, env, told", [
    (["CLIENT_CERT"], {}, "ertificate"),
    ([], {"OUR_PROXY_USER": "drafter:wrong"}, "answered CONNECT with 407; mend its login"),
])
def test_who_refuses_us_is_told(ask, gateway, without, env, told):
    done = ask(without, **env)
    assert done.returncode == 78 and "attempt failed: credentials" in done.stdout and told in done.stdout
    assert "finish" not in done.stdout and not gateway.asked


def test_a_proxy_can_be_socks(ask, gateway):
    socks = SocksProxy()
    done = ask(PROXY=f"socks5h://127.0.0.1:{socks.server_address[1]}")
    assert done.returncode == 0 and socks.asked and set(socks.asked) == {"models.test"} and len(gateway.asked) == 2
    gateway.asked.clear()
    done = ask(PROXY=f"socks5h://127.0.0.1:{socks.server_address[1]}", OUR_PROXY_USER="drafter:wrong")
    assert done.returncode == 78 and "attempt failed: credentials" in done.stdout and not gateway.asked
    socks.shutdown()


def test_a_proxy_can_be_reached_by_tls(ask, gateway, pki):
    by_tls = ConnectProxy(pki / "server.pem")
    done = ask(PROXY=f"https://models.localhost:{by_tls.server_port}")
    assert done.returncode == 0 and by_tls.asked and all(known for _, known in by_tls.asked) and len(gateway.asked) == 2
    by_tls.shutdown()


def test_a_host_without_proxy_is_reached_directly(ask, gateway, proxy):
    # Such a name leads here without a name server.
    done = ask(BASE_URL=f"https://models.localhost:{gateway.server_port}", NO_PROXY="example.com,localhost")
    assert done.returncode == 0 and len(gateway.asked) == 2 and not proxy.asked


def test_the_environments_proxy_counts_where_the_settings_name_none(ask, gateway, proxy, monkeypatch):
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.server_port}")
    done = ask(["PROXY"])
    assert done.returncode == 0 and len(gateway.asked) == 2 and proxy.asked
    proxy.asked.clear()
    assert ask(["PROXY"], BASE_URL=f"https://models.localhost:{gateway.server_port}", NO_PROXY="*").returncode == 0
    assert len(gateway.asked) == 4 and not proxy.asked


def found(stack, env):
    """What `check config` says of providers."""
    done = stack.draftmill("check", "config", "--json", "--config", stack.config, env=env, check=False)
    assert "test-key" not in done.stdout + done.stderr and "p%40ss" not in done.stdout + done.stderr
    return json.loads(done.stdout)["problems"]


def test_check_config_goes_all_the_way_and_sends_nothing(stack, way, gateway, proxy):
    assert found(stack, way()) == []
    assert proxy.asked and not gateway.asked


@pytest.mark.parametrize("without, env, told", [
    ([], {"BASE_URL": "https://none.invalid/v1", "NO_PROXY": "none.invalid"}, "resolve host"),
    ([], {"PROXY": "http://127.0.0.1:1"}, "127.0.0.1 port 1"),
    (["CA_FILE"], {}, "certificate"),
    ([], {"CA_FILE": "client.key"}, "client.key"),
    ([], {"CLIENT_CERT": "mixed.pem"}, "key"),
    ([], {"OUR_PROXY_USER": "drafter:wrong"}, "answered CONNECT with 407; mend its login"),
    ([], {"OUR_PROXY_USER": "nobody"}, "OUR_PROXY_USER holds no USER:PASSWORD"),
    ([], {"OPENAI_API_KEY": "", "KEY_COMMAND": "sh,-c,echo test-key; exit 7"}, "key_command: the command sh ended with status 7"),
    ([], {"OPENAI_API_KEY": "", "KEY_FILE": "/none/key"}, "/none/key"),
    ([], {"PROXY": "http://me:test-key@proxy.test:3128"}, "proxy_key_env"),
])
def test_check_config_tells_what_is_in_the_way(stack, way, pki, gateway, without, env, told):
    (pki / "mixed.pem").write_text((pki / "server.key").read_text() + (pki / "client.crt").read_text())
    env = {name: str(pki / value) if value.startswith(("client.", "mixed.")) else value for name, value in env.items()}
    problem, = found(stack, way(without, **env))
    assert problem.startswith("providers.openai: ") and told in problem
    assert not gateway.asked


# --- keys that change under a worker

@pytest.fixture
def tokens(stack, gateway, tmp_path):
    """A command that prints what we want it to, and counts how often it ran; in no log at the end."""
    class Tokens:
        runs, text, script, seen = tmp_path / "runs", tmp_path / "text", tmp_path / "token", []
        command = f"sh,{script}"

        def give(self, token, **end):
            self.seen.append(token)
            (tmp_path / "new").write_text(json.dumps({"token": token, **end}))
            (tmp_path / "new").rename(self.text)

        def n_runs(self):
            return len(self.runs.read_text().splitlines())

    tokens = Tokens()
    tokens.script.write_text(f"echo >>{tokens.runs}; cat {tokens.text}\n")
    yield tokens
    for worker in stack.workers:
        worker.kill()
    kept = "".join(worker.log() for worker in stack.workers) + str(stack.sql("SELECT a::text FROM draftmill.attempt a"))
    for secret in (*tokens.seen, "p%40ss"):
        assert secret not in kept


def pass_job(stack, id):
    send(stack, job(id))
    assert wait_ended(stack, id) == {id: ("passed", "no_issues")}


def keys_of(gateway):
    return [headers["api-key"] for _, headers in gateway.asked]


def test_a_token_is_renewed_before_it_expires(stack, way, gateway, tokens):
    tokens.give("token-one", expires_in=15)
    worker = stack.start_worker(env=way(OPENAI_API_KEY="", KEY_COMMAND=tokens.command))
    wait_until(tokens.runs.exists)
    time.sleep(0.5)
    tokens.give("token-two", expires_in=3600)
    pass_job(stack, "renew-1")
    wait_until(lambda: tokens.n_runs() == 2)
    pass_job(stack, "renew-2")
    assert keys_of(gateway)[0] == "token-one" and keys_of(gateway)[-1] == "token-two"
    worker.send(signal.SIGHUP)  # a reload keeps what comes from the same place
    wait_until(lambda: events(worker, "reloaded"))
    pass_job(stack, "renew-3")
    assert keys_of(gateway)[-1] == "token-two" and tokens.n_runs() == 2
    assert worker.terminate() == 0
    assert not events(worker, "call_failed") and not events(worker, "credential_failed")


def test_a_token_is_renewed_once_after_a_401(stack, way, gateway, tokens):
    tokens.give("token-alpha")
    worker = stack.start_worker(env=way(OPENAI_API_KEY="", KEY_COMMAND=tokens.command))
    pass_job(stack, "once-1")
    gateway.keys = ["token-bravo"]
    tokens.give("token-bravo")
    pass_job(stack, "once-2")
    assert gateway.n_refused == 1 and tokens.n_runs() == 2
    assert [line["class"] for line in events(worker, "call_failed")] == ["credentials"]
    # The next one is refused too, and no other can be had: its job waits for a person.
    gateway.keys = []
    send(stack, job("once-3"))
    wait_until(lambda: len(events(worker, "call_failed")) >= 3)
    time.sleep(1)
    assert tokens.n_runs() == 2 and stack.sql("SELECT 1 FROM draftmill.job JOIN draftmill.outcome USING (job_no) WHERE id = 'once-3'") == []
    gateway.keys = ["token-bravo"]
    assert wait_ended(stack, "once-3") == {"once-3": ("passed", "no_issues")}
    assert worker.terminate() == 0


def test_a_key_file_is_rotated_under_a_worker(stack, way, gateway, tokens, tmp_path):
    key, login = tmp_path / "key", tmp_path / "login"
    tokens.seen += ["key-of-old", "key-of-now"]
    key.write_text("key-of-old\n")
    login.write_text(PROXY_USER + "\n")
    worker = stack.start_worker(env=way(["PROXY_KEY_ENV"], OPENAI_API_KEY="", KEY_FILE=key, PROXY_KEY_FILE=login))
    pass_job(stack, "file-1")
    gateway.keys = ["key-of-now"]
    key.write_text("key-of-now\n")
    pass_job(stack, "file-2")
    assert worker.terminate() == 0
    assert gateway.n_refused <= 1 and keys_of(gateway)[-1] == "key-of-now"


@pytest.mark.parametrize("name, value, told", [
    ("PROXY", "http://me:secret@proxy.test:3128", "proxy_key_env"), ("PROXY", "proxy.test:3128", "http://HOST:PORT"),
    ("CA_FILE", "/none/ca.pem", "/none/ca.pem"), ("CLIENT_CERT", "/none/client.pem", "/none/client.pem"),
    ("PATH", "openai", "does not begin with a /"), ("QUERY", "?a=b", "without ?"), ("HEADERS", "X-Team", "Name: value"),
    ("PROXY_KEY_ENV", "NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE"),
])
def test_a_wrong_way_is_told_before_it_is_gone(stack, name, value, told):
    env = {f"DRAFTMILL_PROVIDERS_OPENAI_{name}": value, "OPENAI_API_KEY": "k"}
    done = stack.draftmill("try", "--profile", "customer-letter", "-", input=json.dumps(job("p-2")), env=env, check=False)
    assert done.returncode == 78 and told in done.stderr and "secret" not in done.stderr
