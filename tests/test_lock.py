from types import SimpleNamespace

import psutil
import pytest

from indexer.library import Library, _warn_of_network_disk
from indexer.lock import network_disk
from tests.building import make_library, settings
from tests.fakes import FakeEncoder


def mounts(monkeypatch, *listed):
    found = [SimpleNamespace(mountpoint=str(place), fstype=kind, opts=opts) for place, kind, opts in listed]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: found)


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "smb3", "fuse.sshfs"])
def test_the_nearest_mount_decides_whether_a_disk_is_on_the_network(tmp_path, monkeypatch, kind):
    near, beside = tmp_path / "share", tmp_path / "share of nobody"
    mounts(monkeypatch, ("/", "ext4", "rw"), (near, kind, "rw"), (near / "local", "xfs", "rw"))
    assert network_disk(near / "library") == kind
    assert network_disk(near) == kind
    assert network_disk(near / "local" / "library") is None
    assert network_disk(beside / "library") is None


def test_a_mapped_drive_is_on_the_network(tmp_path, monkeypatch):
    mounts(monkeypatch, (tmp_path, "NTFS", "rw,remote"))
    assert network_disk(tmp_path / "library") == "NTFS"


def test_whoever_writes_to_a_network_disk_is_warned_once(tmp_path, monkeypatch, caplog):
    mounts(monkeypatch, (tmp_path, "nfs4", "rw"))
    _warn_of_network_disk.cache_clear()
    make_library(tmp_path).close()
    Library.open(tmp_path / "library", settings(tmp_path), write=True, encoder=FakeEncoder()).close()
    assert caplog.text.count("network disk (nfs4)") == 1
    assert "one machine only" in caplog.text
