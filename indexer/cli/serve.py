"""The verb `ui`: starts the browser side as a process of its own, on this machine alone unless told otherwise."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from indexer.cli import Context
from indexer.cli.output import ExitCode, say
from indexer.errors import SettingsError
from indexer.passwords import Role, load_passwords, store_password
from indexer.settings import passwords_path

LOOPBACK = "127.0.0.1"
FIRST_PORT = 8501
_START_SECONDS = 60
_NO_TLS = """Without TLS whoever is on the network can read passwords and documents on their way. Either give longdoc a
certificate (--certificate server.pem --key server-key.pem), or keep it on this machine and let a proxy with TLS pass on
HTTP and WebSockets (longdoc ui --password --name docs.example.org; then, in Caddy: reverse_proxy 127.0.0.1:8501)."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked of `longdoc ui`; ``demand`` is a password even on this machine's own address."""

    host: str = LOOPBACK
    port: int | None = None
    demand: bool = False
    oidc: bool = False
    names: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class Serving:
    """Where the browser side listens and how people are let in."""

    host: str
    port: int
    access: str
    names: tuple[str, ...]
    certificate: Path | None
    key: Path | None

    @property
    def url(self) -> str:
        shown = LOOPBACK if self.host in ("0.0.0.0", "::") else self.host
        return f"{'https' if self.certificate else 'http'}://{f'[{shown}]' if ':' in shown else shown}:{self.port}"


@click.command(name="ui", short_help="Serve the pages for the browser.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="The port to listen on (else the first free one from 8501)."
)
@click.option("--host", default=LOOPBACK, help="The address to listen on; any but this machine's own needs a password.")
@click.option("--password", "demand", is_flag=True, help="Ask for the password even on this machine's own address.")
@click.option("--oidc", is_flag=True, help="Sign people in through OpenID Connect, set up in .streamlit/secrets.toml.")
@click.option("--name", "names", multiple=True, help="A host name that browsers use for this server; repeatable.")
@click.option(
    "--certificate", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="TLS certificate (PEM)."
)
@click.option("--key", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="TLS private key (PEM).")
@click.option("--set-password", "role", type=click.Choice([role.value for role in Role]), help="Set a role's password.")
@click.pass_obj
def ui_command(context: Context, /, role: str | None, **asked: Any) -> ExitCode:
    """Serve the search, reading and library pages on http://127.0.0.1:8501.

    Without --host only this machine can connect, and no password is asked. With --host (or --password, for use behind
    a proxy that does TLS) people sign in: a reader searches and reads, an editor also adds and removes. Set a password
    with `longdoc ui --set-password editor`. Over a network use --certificate and --key, or a proxy with TLS in front.
    """
    if role is not None:
        return _set_password(Role(role))
    return _serve(_serving(Request(**asked)), context)


def _set_password(role: Role) -> ExitCode:
    password = os.environ.get("LONGDOC_NEW_PASSWORD") or click.prompt(
        f"New password for the role {role.value}", hide_input=True, confirmation_prompt=True, err=True
    )
    store_password(passwords_path(), role, password)
    say(f"The password of the role {role.value} is set. It is kept as a scrypt hash in {passwords_path()}.")
    return ExitCode.DONE


def _serving(asked: Request) -> Serving:
    """Where to listen and whom to let in. Raises SettingsError where that cannot be had or is not safe."""
    local = asked.host in (LOOPBACK, "localhost", "::1")
    access = "oidc" if asked.oidc else "local" if local and not asked.demand else "password"
    if access == "password" and not load_passwords(passwords_path()):
        raise SettingsError(
            "Beyond this machine longdoc asks for a password, and none is set. "
            "Run `longdoc ui --set-password editor` first (and `--set-password reader` for people who only search)."
        )
    if access == "oidc":
        _check_oidc()
    if (asked.certificate is None) != (asked.key is None):
        raise SettingsError("TLS needs both --certificate and --key.")
    hosts = asked.names or (() if local else ("*",) if asked.host in ("0.0.0.0", "::") else (asked.host,))
    port = _free_port(asked.host, asked.port)
    return Serving(asked.host, port, access, tuple(hosts), asked.certificate, asked.key)


def _check_oidc() -> None:
    secrets = Path.home() / ".streamlit" / "secrets.toml"
    if importlib.util.find_spec("authlib") is None:
        raise SettingsError("Signing in through OpenID Connect needs Authlib: run `pip install 'longdoc[oidc]'`.")
    if not secrets.exists() or "[auth" not in secrets.read_text(encoding="utf-8", errors="replace"):
        raise SettingsError(f"Signing in through OpenID Connect is set up in {secrets}, in a section [auth].")


def _free_port(host: str, port: int | None) -> int:
    for candidate in [port] if port else range(FIRST_PORT, FIRST_PORT + 50):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
            except PermissionError as error:
                raise SettingsError(f"Port {candidate} is reserved for the system. Choose one above 1023.") from error
            except socket.gaierror as error:
                raise SettingsError(f"{host} is not an address of this machine.") from error
            except OSError:
                continue
            return candidate
    taken = f"Port {port} is" if port else f"The ports {FIRST_PORT} to {FIRST_PORT + 49} are"
    raise SettingsError(f"{taken} taken on {host}. Choose another with --port.")


def command_line(serving: Serving, upload_mb: int) -> list[str]:
    """The command that runs Streamlit; the safety settings are flags, so no config file elsewhere undoes them."""
    flags = {
        "server.address": serving.host,
        "server.port": serving.port,
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "server.enableCORS": "true",
        "server.enableXsrfProtection": "true",
        "server.maxUploadSize": upload_mb,
        "server.enableAgentApi": "false",
        "browser.gatherUsageStats": "false",
        "client.showErrorDetails": "none",
        "client.showErrorLinks": "false",
        "logger.level": "warning",
        "logger.hideWelcomeMessage": "true",
    }
    if serving.certificate and serving.key:
        flags |= {"server.sslCertFile": str(serving.certificate), "server.sslKeyFile": str(serving.key)}
    return [
        *(sys.executable, "-m", "streamlit", "run", str(_server_script())),
        *(f"--{name}={value}" for name, value in flags.items()),
    ]


def _server_script() -> Path:
    found = importlib.util.find_spec("app")
    if found is None or found.origin is None:
        raise SettingsError("The browser side (package `app`) is not installed beside indexer. Install longdoc again.")
    return Path(found.origin).with_name("server.py")


def tls_advice(serving: Serving) -> str:
    """What to do about a server that others reach without TLS; nothing where it is not needed."""
    return "" if serving.host in (LOOPBACK, "localhost", "::1") or serving.certificate else _NO_TLS


def _serve(serving: Serving, context: Context) -> ExitCode:
    environment = os.environ | {
        "LONGDOC_LIBRARY": str(context.library_path.resolve()),
        "LONGDOC_UI_ACCESS": serving.access,
        "LONGDOC_UI_HOSTS": ",".join(serving.names),
    }
    project = _server_script().parent.parent
    process = subprocess.Popen(
        command_line(serving, context.settings.ui_upload_mb),
        env=environment,
        cwd=project,  # where .streamlit/config.toml with the theme lies
    )
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        if _answers(serving, process):
            say(f"longdoc is at {serving.url} (stop it with Ctrl+C).", quiet=context.quiet)
            if advice := tls_advice(serving):
                say(advice, quiet=context.quiet)
        code = process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait(10)
        return ExitCode.DONE
    if code not in (0, -signal.SIGTERM):
        say(f"longdoc: the browser side stopped (exit code {code}); what it said is above.")
        return ExitCode.FAILED
    return ExitCode.DONE


def _answers(serving: Serving, process: subprocess.Popen[bytes]) -> bool:
    """Wait until the server answers; False when it ended first."""
    if serving.certificate:
        return True  # a certificate of one's own is for browsers to judge, not for this check
    for _ in range(_START_SECONDS * 5):
        if process.poll() is not None:
            return False
        try:
            urllib.request.urlopen(f"{serving.url}/_stcore/health", timeout=2).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
        else:
            return True
    return True
