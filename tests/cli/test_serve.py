import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from indexer import passwords
from indexer.cli import main, serve
from indexer.passwords import Role, load_passwords, password_matches
from indexer.settings import passwords_path


@pytest.fixture(autouse=True)
def _apart(tmp_path, monkeypatch):
    monkeypatch.setattr(passwords, "_LOG2_N", 10)
    monkeypatch.setenv("LONGDOC_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("LONGDOC_LIBRARY", str(tmp_path / "library"))


@pytest.fixture
def started(monkeypatch):
    """What would have been served, instead of serving it."""
    seen = []
    monkeypatch.setattr(serve, "_serve", lambda serving, context: seen.append(serving))
    return seen


def flags(serving):
    return dict(
        part.removeprefix("--").split("=", 1) for part in serve.command_line(serving, 200) if part.startswith("--")
    )


def test_it_listens_on_loopback_without_a_password_and_reports_nothing(started):
    assert main(["ui"]) == 0
    (serving,) = started
    assert serving.access == "local"
    told = flags(serving)
    assert told["server.address"] == "127.0.0.1"
    assert told["browser.gatherUsageStats"] == "false"
    assert told["server.enableXsrfProtection"] == "true"
    assert told["server.enableAgentApi"] == "false"
    assert told["client.showErrorDetails"] == "none"


@pytest.mark.parametrize("arguments", [["--host", "0.0.0.0"], ["--host", "127.0.0.1", "--password"]])
def test_beyond_this_machine_it_refuses_to_start_without_a_password(started, capsys, arguments):
    assert main(["ui", *arguments]) == 1
    assert "longdoc ui --set-password editor" in capsys.readouterr().err
    assert started == []


def test_where_others_connect_it_says_how_to_have_tls():
    serving = serve.Serving("0.0.0.0", 8501, "password", ("*",), None, None)
    assert "--certificate" in serve.tls_advice(serving)
    assert "reverse_proxy 127.0.0.1:8501" in serve.tls_advice(serving)
    assert serve.tls_advice(replace(serving, host="127.0.0.1")) == ""
    assert serve.tls_advice(replace(serving, certificate=Path("x"), key=Path("y"))) == ""


def test_with_a_password_set_it_demands_it(started, monkeypatch, capsys):
    monkeypatch.setenv("LONGDOC_NEW_PASSWORD", "a long password")
    assert main(["ui", "--set-password", "editor"]) == 0
    assert password_matches("a long password", load_passwords(passwords_path())[Role.EDITOR])
    assert "a long password" not in capsys.readouterr().err
    assert main(["ui", "--host", "0.0.0.0", "--name", "docs.example"]) == 0
    assert started[0].access == "password"
    assert started[0].names == ("docs.example",)


def test_the_next_free_port_is_taken_and_a_wished_one_insisted_on(started, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["ui", "--port", str(port)]) == 1
        assert f"Port {port} is taken" in capsys.readouterr().err
    assert started == []


def test_half_a_certificate_is_refused(tmp_path, capsys):
    certificate = tmp_path / "certificate.pem"
    certificate.write_text("")
    assert main(["ui", "--certificate", str(certificate)]) == 1
    assert "both --certificate and --key" in capsys.readouterr().err


def test_openid_connect_is_refused_until_it_is_set_up(started, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["ui", "--oidc"]) == 1
    said = capsys.readouterr().err
    assert "longdoc[oidc]" in said or "section [auth]" in said
    assert started == []


def test_the_verb_does_not_import_streamlit():
    code = "import sys, indexer.cli.serve; sys.exit('streamlit' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
