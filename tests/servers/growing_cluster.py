"""A Ray cluster without room that starts nodes when asked, in namespaces of its own.

Started by `test_ray_growth.py` inside `unshare`; the nodes are processes of this machine. Writes
what happened to `found.json` in the project's folder.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from servers.ray_cluster import IS_PLAIN, QUIET, STEELYARD, bring_loopback_up, variables

NODES = 2
_HEAD = "ray.head.default"
_CONFIG: dict[str, Any] = {
    "cluster_name": "growing",
    "max_workers": NODES,
    "upscaling_speed": 5.0,
    "idle_timeout_minutes": 5,
    "provider": {
        "type": "fake_multinode",
        "disable_node_updaters": True,
        "disable_launch_config_check": True,
        "foreground_node_launch": True,
    },
    "available_node_types": {
        _HEAD: {"resources": {}, "node_config": {}, "max_workers": 0},
        "room": {"resources": {"CPU": 1}, "node_config": {}, "max_workers": NODES},
    },
    "head_node_type": _HEAD,
    "file_mounts_sync_continuously": False,
    **{name: {} for name in ("auth", "docker", "file_mounts")},
    **{
        f"{name}_commands": []
        for name in (
            *("initialization", "setup", "head_setup", "worker_setup"),
            *("head_start_ray", "worker_start_ray"),
        )
    },
    **{name: [] for name in ("cluster_synced_files", "rsync_exclude", "rsync_filter")},
}
_GROWS = {"AUTOSCALER_UPDATE_INTERVAL_S": "1", "RAY_FAKE_CLUSTER": "1"}


def main(root: Path) -> None:
    """A run of more workers than the cluster has room for at first."""
    bring_loopback_up()
    folder = tempfile.mkdtemp(prefix="ray-")
    os.environ |= {**QUIET, **variables(root), "RAY_TMPDIR": folder, "TMPDIR": folder}
    config = root / "growing.json"
    config.write_text(json.dumps(_CONFIG), encoding="utf-8")
    size = "--object-store-memory=80000000"
    head = ("--head", f"--autoscaling-config={config}", "--num-cpus=0", size)
    ray = Path(sys.executable).with_name("ray")
    subprocess.run([ray, "start", *head], env={**os.environ, **_GROWS}, check=True)
    engine = ("--engine", "ray", "--address", "127.0.0.1:6379", "--send-env", "TRIAL_NOTES")
    words = (*STEELYARD, "run", *IS_PLAIN, "--workers", str(NODES), *engine, "--format", "json")
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    found = {"code": done.returncode, "output": done.stdout, "said": done.stderr}
    (root / "found.json").write_text(json.dumps(found), encoding="utf-8")
    os.kill(os.getpid(), signal.SIGKILL)  # the namespace ends with it, and all that is in it


if __name__ == "__main__":
    main(Path(sys.argv[1]))
