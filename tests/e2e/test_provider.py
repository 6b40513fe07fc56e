"""Ways to a model: through a gateway with a private CA, certificates and other paths, and a proxy that wants a password."""
import base64
import http.server
import json
import select
import socket
import ssl
import subprocess
import threading
import urllib.request

import pytest
from jobs import QUICK_MODEL, job
from stack import Stack

PROXY_USER = "drafter:p%40ss word"


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def certificate(folder, name, common_name):
    """NAME.pem with key and certificate, signed by ca.crt."""
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={common_name}")
    (folder / f"{name}.ext").write_text(f"subjectAltName=DNS:{common_name}\n")
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


@pytest.fixture(scope="module")
def models():
    with Stack() as stack:
        stack.start_model(**QUICK_MODEL)
        stack.settings.update(DRAFTMILL_DATABASE_CONNINFO="host=127.0.0.1 port=1", DRAFTMILL_KAFKA_BROKERS="127.0.0.1:1")
        yield stack


class Gateway(http.server.ThreadingHTTPServer):
    """TLS before the scripted model, for clients with a certificate of our CA; keeps what it was asked."""

    def __init__(self, pki, model_url):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                asked.append((self.path, dict(self.headers)))
                body = self.rfile.read(int(self.headers["Content-Length"]))
                ask = urllib.request.Request(f"{model_url}/v1/chat/completions", body, {"Content-Type": "application/json", "Authorization": "Bearer test-key"})
                with urllib.request.urlopen(ask, timeout=10) as answer:
                    text = answer.read()
                self.send_response(200)
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


class ConnectProxy(http.server.ThreadingHTTPServer):
    """CONNECT alone, for whom it knows; every name is this machine."""

    def __init__(self):
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
                    ends = {self.connection: there, there: self.connection}
                    while ready := select.select(list(ends), [], [], 10)[0]:
                        for end in ready:
                            data = end.recv(65536)
                            if not data:
                                return
                            ends[end].sendall(data)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def gateway(pki, models):
    gateway = Gateway(pki, models.model.url)
    yield gateway
    gateway.shutdown()


@pytest.fixture(scope="module")
def proxy():
    proxy = ConnectProxy()
    yield proxy
    proxy.shutdown()


@pytest.fixture
def ask(models, gateway, proxy, pki):
    """Tries a job by way of gateway and proxy; `without` leaves settings out, `env` changes them."""
    gateway.asked.clear()
    proxy.asked.clear()

    def ask(without=(), timeout_s=20, **env):
        settings = {
            "BASE_URL": f"https://models.test:{gateway.server_port}", "PATH": "/openai/deployments/{model}/chat/completions",
            "QUERY": "api-version=2024-10-21", "AUTH_HEADER": "api-key", "AUTH_PREFIX": "", "HEADERS": "X-Team: letters",
            "CA_FILE": str(pki / "ca.crt"), "CLIENT_CERT": str(pki / "client.pem"), "PROXY": f"http://127.0.0.1:{proxy.server_port}",
            "PROXY_KEY_ENV": "OUR_PROXY_USER",
        }
        env = {**{f"DRAFTMILL_PROVIDERS_OPENAI_{name}": value for name, value in settings.items() if name not in without},
               "OPENAI_API_KEY": "test-key", "OUR_PROXY_USER": PROXY_USER, **env}
        return models.draftmill("try", "--profile", "customer-email", "-", input=json.dumps(job("p-1")), env=env, check=False, timeout_s=timeout_s)

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


@pytest.mark.parametrize("without, env, told", [
    (["CA_FILE"], {}, "certificate"),
    (["CLIENT_CERT"], {}, "ertificate"),
    ([], {"OUR_PROXY_USER": "drafter:wrong"}, "407"),
])
def test_what_stands_in_the_way_is_told_and_fails_no_job(ask, gateway, without, env, told):
    with pytest.raises(subprocess.TimeoutExpired) as over:
        ask(without, timeout_s=4, **env)
    output = over.value.stdout.decode()
    assert "attempt failed: unsent" in output and told in output
    assert "finish" not in output and not gateway.asked


def test_a_host_without_proxy_is_reached_directly(ask, gateway, proxy):
    with pytest.raises(subprocess.TimeoutExpired):  # its name is known to the proxy alone
        ask(timeout_s=3, DRAFTMILL_PROVIDERS_OPENAI_NO_PROXY="models.test")
    assert not proxy.asked and not gateway.asked


@pytest.mark.parametrize("name, value, told", [
    ("PROXY", "http://me:secret@proxy.test:3128", "proxy_key_env"), ("PROXY", "proxy.test:3128", "http://HOST:PORT"),
    ("CA_FILE", "/none/ca.pem", "/none/ca.pem"), ("CLIENT_CERT", "/none/client.pem", "/none/client.pem"),
    ("PATH", "openai", "does not begin with a /"), ("QUERY", "?a=b", "without ?"), ("HEADERS", "X-Team", "Name: value"),
    ("PROXY_KEY_ENV", "NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE"),
])
def test_a_wrong_way_is_told_before_it_is_gone(models, name, value, told):
    env = {f"DRAFTMILL_PROVIDERS_OPENAI_{name}": value, "OPENAI_API_KEY": "k"}
    done = models.draftmill("try", "--profile", "customer-email", "-", input=json.dumps(job("p-2")), env=env, check=False)
    assert done.returncode == 78 and told in done.stderr and "secret" not in done.stderr
