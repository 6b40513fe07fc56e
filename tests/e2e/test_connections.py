"""Ways to the database: TLS, passwords that change, a pooler between, and a server whose superuser is somebody else."""
import contextlib
import json
import os
import pwd
import re
import socket
import subprocess

import psycopg2
import pytest
from jobs import QUICK_GROUP, QUICK_MODEL, drain, ends, events, job, send, wait_ended
from stack import Process, Stack, wait_until

CONFIG = ["--config", "config/draftmill.yaml"]
SECRETS = ["first-Secret-1", "second-Secret-2"]


def started_stack():
    stack = Stack()
    stack.settings.update(QUICK_GROUP)
    stack.start_pg()
    stack.start_broker()
    stack.start_model(**QUICK_MODEL)
    return stack


# ---- certificates: a CA of ours, and one that nobody knows

def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def make_ca(folder, name):
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.crt", "-days", "2",
            "-subj", f"/CN={name}", "-addext", "basicConstraints=critical,CA:TRUE")


def make_certificate(folder, name, common_name, ca="ca"):
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={common_name}")
    with open(f"{folder}/{name}.ext", "w") as extensions:
        extensions.write(f"subjectAltName=DNS:{common_name}\n")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.crt", "-CAkey", f"{ca}.key", "-CAcreateserial", "-days", "2",
            "-out", f"{name}.crt", "-extfile", f"{name}.ext")


class Server:
    """The stack's PostgreSQL under TLS: what it shows, and how it lets the worker in. The superuser comes by its socket."""

    def __init__(self, stack):
        self.stack, self.data, self.tls = stack, f"{stack.folder}/pg/data", f"{stack.folder}/tls"
        os.mkdir(self.tls)
        make_ca(self.tls, "ca")
        make_ca(self.tls, "unknown-ca")
        make_certificate(self.tls, "localhost", "localhost")
        make_certificate(self.tls, "elsewhere", "db.example")
        make_certificate(self.tls, "worker", "draftmill_worker")
        self.port = dict(word.split("=", 1) for word in stack.conninfo.split())["port"]
        self.give("ca.crt", "root.crt")
        self.show("localhost")
        self.let_in("trust")
        for setting in ("ssl = on", "ssl_ca_file = 'root.crt'"):
            stack.sql(f"ALTER SYSTEM SET {setting}")
        self.reload()

    def give(self, name, to):
        owner = os.stat(self.data)
        with open(f"{self.tls}/{name}", "rb") as source, open(f"{self.data}/{to}", "wb") as target:
            target.write(source.read())
        os.chown(target.name, owner.st_uid, owner.st_gid)
        os.chmod(target.name, 0o600)

    def show(self, certificate):
        self.give(f"{certificate}.crt", "server.crt")
        self.give(f"{certificate}.key", "server.key")

    def let_in(self, method):
        with open(f"{self.data}/pg_hba.conf", "w") as hba:
            hba.write(f"local all all trust\nhostssl all draftmill_worker 127.0.0.1/32 {method}\n")

    def reload(self):
        self.stack.sql("SELECT pg_reload_conf()")
        self.stack.sql("SELECT pg_sleep(0.2)")

    def conninfo(self, more=""):
        return (f"host=localhost port={self.port} dbname=postgres user=draftmill_worker sslmode=verify-full "
                f"sslrootcert={self.tls}/ca.crt {more}")

    def end_sessions(self):
        """Those of the workers, as a failover would; both of one that is just ready."""
        wait_until(lambda: self.stack.sql("SELECT count(*) = 2 FROM pg_stat_activity WHERE usename = 'draftmill_worker'") == [(True,)])
        self.stack.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'draftmill_worker'")

    def set_password(self, secret):
        self.stack.sql("SET password_encryption = 'scram-sha-256'; ALTER ROLE draftmill_worker PASSWORD %s", [secret])


@pytest.fixture(scope="module")
def stack():
    with started_stack() as stack:
        stack.migrate()
        stack.server = Server(stack)
        yield stack


@contextlib.contextmanager
def working(stack, **env):
    """A worker that is ready; ends in order."""
    worker = stack.start_worker(env=env)
    wait_until(lambda: events(worker, "worker_ready"), what="a worker that is ready")
    yield worker
    assert worker.terminate() == 0
    for secret in SECRETS:
        assert secret not in worker.log()


def problems(stack, conninfo, **env):
    done = stack.draftmill("check", "config", *CONFIG, env={"DRAFTMILL_DATABASE_CONNINFO": conninfo, **env}, check=False)
    assert not any(secret in done.stdout + done.stderr for secret in SECRETS)
    return [line for line in done.stdout.splitlines() if line.startswith(("database", "environment"))]


def refused_worker(stack, status, conninfo, **env):
    """The reason a worker gives that does not start."""
    worker = stack.start_worker(env={"DRAFTMILL_DATABASE_CONNINFO": conninfo, **env})
    assert worker.wait() == status
    return events(worker, "worker_cannot_start")[0]["why"]


# ---- TLS

def test_a_worker_proves_itself_by_certificate_and_its_server_too(stack):
    server = stack.server
    server.let_in("cert")
    server.reload()
    os.chmod(f"{server.tls}/worker.key", 0o600)
    conninfo = server.conninfo(f"sslcert={server.tls}/worker.crt sslkey={server.tls}/worker.key")
    assert problems(stack, conninfo) == []
    (problem,) = problems(stack, server.conninfo("sslcert=none"))
    assert "requires a valid client certificate" in problem
    with working(stack, DRAFTMILL_DATABASE_CONNINFO=conninfo):
        send(stack, job("tls"))
        wait_ended(stack, "tls")
        found = stack.sql("SELECT DISTINCT ssl, client_dn FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                          "WHERE application_name ~ '^draftmill-(trail|control)'")
        assert found == [(True, "/CN=draftmill_worker")]


def test_a_server_of_an_unknown_ca_is_refused(stack):
    stack.server.let_in("trust")
    stack.server.reload()
    conninfo = stack.server.conninfo().replace("/ca.crt", "/unknown-ca.crt")
    (problem,) = problems(stack, conninfo)
    assert problem.startswith("database: no connection") and "certificate verify failed" in problem
    assert "certificate verify failed" in refused_worker(stack, 75, conninfo)


def test_a_server_of_another_name_is_refused_also_later(stack):
    """The worker resolves the name itself, and still holds the certificate against it."""
    server = stack.server
    said = 'server certificate for "db.example" does not match host name "localhost"'
    with working(stack, DRAFTMILL_DATABASE_CONNINFO=server.conninfo(), DRAFTMILL_WORKER_LEASE_MS="60000") as worker:
        server.show("elsewhere")
        server.reload()
        server.end_sessions()
        wait_until(lambda: any(said in line["why"] for line in events(worker, "trail_down")), what="a refusal on the loop")
        (problem,) = problems(stack, server.conninfo())
        assert said in problem
        assert said in refused_worker(stack, 75, server.conninfo())
        server.show("localhost")
        server.reload()
        send(stack, job("renamed"))
        wait_ended(stack, "renamed")


# ---- passwords

def write_secret(path, text):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o600)


def change_under_way(stack, worker, id, change):
    """Server and file get another password, and the sessions end: the worker comes back, and works."""
    change()
    n_down = len(events(worker, "trail_down"))
    stack.server.end_sessions()
    wait_until(lambda: len(events(worker, "trail_down")) > n_down, what="the end of the sessions")
    send(stack, job(id))
    wait_ended(stack, id)


def test_a_file_of_passwords_is_read_anew(stack):
    server, path = stack.server, f"{stack.folder}/passwords"

    def change(secret):
        server.set_password(secret)
        write_secret(path, f"localhost:*:*:draftmill_worker:{secret}\n")

    change(SECRETS[0])
    server.let_in("scram-sha-256")
    server.reload()
    assert "no password supplied" in problems(stack, server.conninfo("passfile=/nowhere"))[0]
    assert problems(stack, server.conninfo(), PGPASSWORD=SECRETS[0]) == []
    with working(stack, DRAFTMILL_DATABASE_CONNINFO=server.conninfo(f"passfile={path}")) as worker:
        change_under_way(stack, worker, "file", lambda: change(SECRETS[1]))


def test_a_command_is_asked_before_each_connection(stack, tmp_path):
    server, path = stack.server, f"{stack.folder}/secret"

    def change(secret):
        server.set_password(secret)
        write_secret(path, f"{secret}\nof no matter\n")

    change(SECRETS[0])
    server.let_in("scram-sha-256")
    server.reload()
    environment = {"DRAFTMILL_DATABASE_CONNINFO": server.conninfo(), "DRAFTMILL_DATABASE_PASSWORD_COMMAND": f"cat,{path}"}
    assert problems(stack, server.conninfo(), DRAFTMILL_DATABASE_PASSWORD_COMMAND=f"cat,{path}") == []
    settings = tmp_path / "draftmill.yaml"
    settings.write_text(f'database:\n  password_command: [sh, -c, "cat {path}"]\nproviders:\n  openai:\n    key_env: OPENAI_API_KEY\n')
    stack.draftmill("report", "--config", str(settings), env={"DRAFTMILL_DATABASE_CONNINFO": server.conninfo()})
    with working(stack, **environment, DRAFTMILL_WORKER_LEASE_MS="60000") as worker:
        change_under_way(stack, worker, "command", lambda: change(SECRETS[1]))
        os.rename(path, path + ".away")
        server.end_sessions()
        said = "the command cat ended with status 1: cat: "
        wait_until(lambda: any(said in line["why"] for line in events(worker, "fleet_down")), what="a command that fails")
        os.rename(path + ".away", path)
        send(stack, job("recovered"))
        wait_ended(stack, "recovered")


@pytest.mark.parametrize("command, said", [
    ("false", "database: database.password_command: the command false ended with status 1; "),
    ("/nowhere/vault,read", "the command /nowhere/vault cannot be run: No such file"),
    ("true", "the command true printed no password"),
    (f"echo,{SECRETS[0]}-of-long-ago", "password authentication failed"),
])
def test_a_command_that_gives_no_password_is_named(stack, command, said):
    stack.server.set_password(SECRETS[0])
    stack.server.let_in("scram-sha-256")
    stack.server.reload()
    (problem,) = problems(stack, stack.server.conninfo(), DRAFTMILL_DATABASE_PASSWORD_COMMAND=command)
    assert said in problem


@pytest.mark.parametrize("conninfo", [f"dbname=x password={SECRETS[0]}", f"postgresql://worker:{SECRETS[0]}@db.example/x"])
def test_a_password_on_the_command_line_or_in_the_file_is_refused(stack, conninfo, tmp_path):
    settings = tmp_path / "draftmill.yaml"
    settings.write_text(f'database:\n  conninfo: "{conninfo}"\n')
    for words in (["--database.conninfo", conninfo], ["--config", str(settings)]):
        done = stack.draftmill("report", *words, check=False)
        assert done.returncode == 78
        assert "database.conninfo: a password does not belong here" in done.stderr and SECRETS[0] not in done.stderr
    assert not problems(stack, conninfo)[0].startswith("environment")


# ---- no superuser

def test_with_roles_made_beforehand_a_plain_user_does_the_rest():
    """What README gives a DBA to run, then `migrate`, or its script by psql, as a user without any power over the server."""
    with open("README.md") as readme:
        (sql,) = re.findall(r"```sql\n(create role draftmill_owner.*?)```", readme.read(), re.S)
    with started_stack() as stack:
        for statement in ("ROLE deployer LOGIN", "DATABASE draftmill", "DATABASE printed"):
            stack.sql(f"CREATE {statement}")
        stack.sql(sql)
        stack.sql("GRANT CREATE ON DATABASE printed TO deployer")
        stack.conninfo += " dbname=draftmill"
        stack.settings["DRAFTMILL_DATABASE_CONNINFO"] = stack.conninfo_of("draftmill_worker")
        done = stack.draftmill("migrate", *CONFIG, "--database.conninfo", stack.conninfo_of("deployer"))
        assert "migrations run" in done.stdout and done.stderr == ""
        printed = f"{stack.conninfo_of('deployer')} dbname=printed"
        script = stack.draftmill("migrate", "--print", *CONFIG).stdout
        subprocess.run(["psql", "-qX", printed], input=script, text=True, check=True, stdout=subprocess.DEVNULL)
        assert stack.draftmill("migrate", *CONFIG, "--database.conninfo", printed).stdout.startswith("0 of ")
        assert stack.draftmill("check", "config", *CONFIG).returncode == 0
        send(stack, job("plain"))
        drain(stack)
        assert ends(stack) == {"plain": ("passed", "no_issues")}


def test_without_the_roles_a_plain_user_is_told_what_it_takes():
    with Stack() as stack:
        stack.start_pg()
        stack.sql("CREATE ROLE deployer LOGIN; GRANT CREATE ON DATABASE postgres TO deployer")
        done = stack.draftmill("migrate", *CONFIG, "--database.conninfo", stack.conninfo_of("deployer"), check=False)
        assert done.returncode == 78
        assert "may not create the roles" in done.stderr and "grant draftmill_owner to this user" in done.stderr


# ---- PgBouncer

def start_pgbouncer(stack, mode):
    """Debian's, as user postgres, on a port of its own; gives the conninfo of a role through it."""
    folder = f"{stack.folder}/pgbouncer-{mode}"
    os.mkdir(folder, 0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = dict(word.split("=", 1) for word in stack.conninfo.split())
    with open(f"{folder}/users", "w") as users:
        users.write('"postgres" ""\n"draftmill_worker" ""\n"draftmill_reader" ""\n')
    with open(f"{folder}/pgbouncer.ini", "w") as ini:
        ini.write(f"[databases]\npostgres = host=127.0.0.1 port={server['port']}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
                  f"listen_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {folder}/users\npool_mode = {mode}\n")
    command = ["/usr/sbin/pgbouncer", f"{folder}/pgbouncer.ini"]
    if os.getuid() == 0:
        group = str(pwd.getpwnam("postgres").pw_gid)
        command = ["setpriv", "--reuid=postgres", f"--regid={group}", "--clear-groups", "--pdeathsig=KILL", *command]
    bouncer = stack._own(Process(command, f"{stack.folder}/pgbouncer-{mode}.log"))

    def conninfo(role):
        return f"host=127.0.0.1 port={port} dbname=postgres user={role}"

    def answers():
        assert bouncer.alive, bouncer.log()
        with contextlib.suppress(psycopg2.OperationalError):
            psycopg2.connect(conninfo("postgres")).close()
            return True

    wait_until(answers, what="a PgBouncer that answers")
    return conninfo


@pytest.fixture(scope="module", params=["transaction", "session"])
def pooled(request):
    """A database that all commands reach through PgBouncer alone."""
    with started_stack() as stack:
        stack.direct = stack.settings["DRAFTMILL_DATABASE_CONNINFO"]
        stack.through = start_pgbouncer(stack, request.param)
        stack.settings["DRAFTMILL_DATABASE_CONNINFO"] = stack.through("draftmill_worker")
        yield stack


def test_commands_work_behind_pgbouncer(pooled):
    done = pooled.draftmill("migrate", *CONFIG, "--database.conninfo", pooled.through("postgres"))
    assert re.search(r"^[1-9]\d* of \d+ migrations run", done.stdout, re.M)
    pooled.draftmill("submit", "--profile", "customer-letter", "-", *CONFIG, input=json.dumps(job("pool")))
    pooled.settings["DRAFTMILL_DATABASE_CONNINFO"] = pooled.direct
    drain(pooled)
    pooled.settings["DRAFTMILL_DATABASE_CONNINFO"] = pooled.through("draftmill_reader")
    assert "passed" in pooled.draftmill("show", "pool", *CONFIG).stdout
    assert "passed" in pooled.draftmill("report", *CONFIG).stdout


def test_a_worker_refuses_pgbouncer_by_name(pooled):
    pooled.draftmill("migrate", *CONFIG, "--database.conninfo", pooled.through("postgres"))
    conninfo = pooled.through("draftmill_worker")
    said = "database.conninfo: a pooler such as PgBouncer is between us and PostgreSQL"
    assert [problem[:len(said)] for problem in problems(pooled, conninfo)] == [said]
    assert refused_worker(pooled, 78, conninfo).startswith(said)
