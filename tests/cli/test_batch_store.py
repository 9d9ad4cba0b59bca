"""What stands between a batch and others: workers of one that was killed, files that change, disks that are full."""

from __future__ import annotations

import errno
import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tear3d.cli.batch_job import solve_files
from tear3d.cli.batch_lock import WORKERS, alone_in, at_work
from tear3d.cli.batch_store import Store
from tear3d.cli.manifest import Job
from tear3d.errors import InputError, WorkerError
from tests.cli import batches

fcntl = pytest.importorskip("fcntl", reason="no locks that are shared")
resource = pytest.importorskip("resource", reason="no limits on files")


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "scans"
    batches.make_scans(folder, 2)
    return folder


def test_a_batch_waits_for_the_workers_of_one_that_was_killed(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("tear3d.cli.batch_lock._PATIENCE", 0.1)
    with alone_in(tmp_path) as first:
        pass  # killed, as far as the lock is concerned
    ended = threading.Event()

    def left_over():
        with at_work(tmp_path, first):
            begun.set()
            time.sleep(0.5)
            ended.set()

    begun, worker = threading.Event(), threading.Thread(target=left_over)
    worker.start()
    assert begun.wait(10.0)
    with alone_in(tmp_path) as second:
        assert ended.is_set()
        assert "waiting for processes of a batch that was killed" in caplog.text
        with pytest.raises(WorkerError, match="has ended, and another is at work"), at_work(tmp_path, first):
            pass
        with at_work(tmp_path, second), at_work(tmp_path, second):  # several at a time
            pass
        with pytest.raises(InputError, match="another batch is at work"), alone_in(tmp_path):
            pass
    worker.join()


def test_a_disk_without_locks_is_not_taken_for_another_batch(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(InputError, match=r"cannot be kept for one batch \(No locks available\)"), alone_in(tmp_path):
        pass


def problem(store, job, token):
    inputs = store.inputs(job)
    place = store.place(job, inputs)
    record = {"name": job.name, "inputs": inputs, "options": dict(job.options)}
    files = [str(file) for file in job.files]
    return {"files": files, "options": job.options, "place": str(place), "record": record, "token": token}


def test_workers_write_only_what_the_name_of_the_file_says(scans, tmp_path):
    files = tuple(scans.parent / f"moving{k}.npy" for k in (1, 2))
    for k, file in enumerate(files, 1):
        file.write_bytes((scans / f"scan{k}.npy").read_bytes())
    job = Job("one", files, {"certify": False, "refine": None, "voxel_size": 0.15}, "")
    store = Store(tmp_path / "out")
    with store.opened():
        given = problem(store, job, store.token)
        with pytest.raises(WorkerError):
            solve_files(**given | {"token": "of another batch"})
        np.save(files[0], np.load(files[0]) + 1.0)
        with pytest.raises(InputError, match=r"moving1\.npy changed while the batch was at work"):
            solve_files(**given)
        assert not list(tmp_path.rglob("pairs/*"))
        again = problem(store, job, store.token)
        assert again["place"] != given["place"]  # by content
        solve_files(**again)
        assert json.loads(Path(again["place"]).read_text())["name"] == "one"
        other = Job("two", files, job.options, "")
        assert problem(store, other, store.token)["place"] != again["place"]
    assert (tmp_path / "out" / WORKERS).read_text() == store.token


def test_a_file_that_changes_while_it_is_read_has_no_fingerprint(scans, tmp_path, monkeypatch):
    file = tmp_path / "growing.npy"
    file.write_bytes(b"x")

    def slow(path):
        path.write_bytes(b"xx")
        return "0" * 64

    monkeypatch.setattr("tear3d.cli.batch_store.sha256", slow)
    with pytest.raises(OSError, match=r"growing\.npy changes while it is read"):
        Store(tmp_path / "out").inputs(Job("x", (file,), {}, ""))


def test_a_full_disk_is_told_and_what_was_done_stays(scans, tmp_path):
    out = tmp_path / "out"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))  # no file above 4 kB, as if there were no more
    try:
        running = batches.start(scans, out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 2
    assert b"index.html: cannot be written (File too large)" in b" ".join(errors.split())
    assert not [path for path in out.rglob("*") if path.name.endswith(".tmp")]
    batches.check_summary(out)
    running = batches.start(scans, out)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 0, errors
