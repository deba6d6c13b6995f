import json
import os
import signal
import subprocess
import sys
import time

import pytest

from app import jobs
from app.jobs import Failure, State


@pytest.fixture
def engine(monkeypatch, tmp_path):
    """Start a script instead of the engine, as a job would start it."""
    original = subprocess.Popen

    def start(script: str) -> str:
        def popen(command, **keywords):
            return original([sys.executable, "-c", script], **keywords)

        monkeypatch.setattr(jobs.subprocess, "Popen", popen)
        return jobs.start(tmp_path, ["add", "/shelf"])

    return start


def script(*events: dict, then: str = "") -> str:
    lines = "\n".join(f"print({json.dumps(json.dumps(event))}, file=sys.stderr)" for event in events)
    return f"import sys, time\n{lines}\n{then}"


def reached(library, job_id, state):
    for _ in range(200):
        job = next(job for job in jobs.jobs(library) if job.id == job_id)
        if job.state is state:
            return job
        time.sleep(0.05)
    raise AssertionError(f"the job is {job.state}")


PROGRESS = {
    "event": "progress", "file": "/shelf/a.pdf", "files_done": 1, "files_total": 4, "bytes_done": 25,
    "bytes_total": 100, "tokens": 900, "tokens_per_second": 300.0, "seconds": 3.0, "seconds_left": 9,
}  # fmt: skip
BAD = {"event": "file", "path": "/shelf/b.pdf", "status": "encrypted", "reason": "It needs a password."}
GOOD = {"event": "file", "path": "/shelf/a.pdf", "status": "indexed", "reason": None}
DONE = {
    "event": "done", "added": 3, "updated": 0, "unchanged": 0, "failed": 1, "removed": 0, "tokens": 4000,
    "tokens_per_second": 310.5, "stopped": False,
}  # fmt: skip


def test_a_job_at_work_tells_how_far_it_is(engine, tmp_path):
    job_id = engine(script(PROGRESS, GOOD, BAD, then="sys.stderr.flush(); time.sleep(60)"))
    for _ in range(200):
        job = jobs.running(tmp_path)
        if job is not None and job.files_total:
            break
        time.sleep(0.05)
    assert job.id == job_id
    assert (job.share, job.files_done, job.files_total, job.seconds_left) == (0.25, 1, 4, 9)
    assert job.file == "/shelf/a.pdf"
    assert job.failures == (Failure("/shelf/b.pdf", "encrypted", "It needs a password."),)
    jobs.stop(tmp_path, job_id)
    assert reached(tmp_path, job_id, State.STOPPED)
    assert jobs.running(tmp_path) is None


def test_a_job_that_ended_tells_what_it_did(engine, tmp_path):
    job = reached(tmp_path, engine(script(PROGRESS, BAD, DONE)), State.DONE)
    assert job.share == 1.0
    assert job.summary == {"added": 3, "updated": 0, "unchanged": 0, "failed": 1, "removed": 0}
    assert job.message == ""


def test_a_job_that_could_not_run_says_why(engine, tmp_path):
    job = reached(tmp_path, engine("import sys; sys.exit('longdoc: The disk is full.')"), State.FAILED)
    assert job.message == "The disk is full."


def test_a_killed_job_is_not_taken_for_a_running_one(engine, tmp_path):
    job_id = engine(script(PROGRESS, then="sys.stderr.flush(); time.sleep(60)"))
    record = json.loads((tmp_path / "jobs" / job_id / "job.json").read_text())
    os.kill(record["pid"], signal.SIGKILL)
    assert reached(tmp_path, job_id, State.FAILED)


def test_a_process_number_used_again_is_not_the_job(engine, tmp_path):
    job_id = engine(script(PROGRESS))
    path = tmp_path / "jobs" / job_id / "job.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"pid": os.getpid()}))
    assert jobs.running(tmp_path) is None
    jobs.stop(tmp_path, job_id)  # would end the test itself otherwise


def test_damaged_records_are_passed_over(engine, tmp_path):
    job_id = engine(script(DONE))
    reached(tmp_path, job_id, State.DONE)
    (tmp_path / "jobs" / "20260101-000000-000000").mkdir()
    (tmp_path / "jobs" / "20260101-000000-000000" / "job.json").write_text("{")
    assert [job.id for job in jobs.jobs(tmp_path)] == [job_id]


def test_only_the_last_jobs_are_kept(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "_KEPT", 2)
    for _ in range(4):
        reached(tmp_path, engine(script(DONE)), State.DONE)
    assert len(list((tmp_path / "jobs").iterdir())) == 2


def test_the_real_engine_is_started_with_the_library_and_writes_records(tmp_path, monkeypatch):
    job_id = jobs.start(tmp_path / "library", ["sync"])
    job = reached(tmp_path / "library", job_id, State.FAILED)
    assert "longdoc add" in job.message
