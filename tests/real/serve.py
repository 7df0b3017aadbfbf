"""Serves a GGUF model with llama.cpp on loopback: `python serve.py MODEL PORT [CACHE_MIB]`.

The last is the memory for prompts that are in no slot. It prints its address once it listens,
and ends with its standard input.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """Serve until nobody holds the other end of standard input."""
    model, port, *cache_mib = sys.argv[1:]
    xllamacpp: Any = import_module("xllamacpp")
    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.model_alias = ["tiny-desk"]
    settings.hostnames = ["127.0.0.1"]
    settings.port = int(port)
    settings.offline = True
    settings.ui = False
    settings.warmup = False
    settings.use_jinja = True
    settings.n_ctx = 16384
    settings.n_parallel = 2
    settings.n_predict = 256
    if cache_mib:
        settings.cache_ram_mib = int(cache_mib[0])
    settings.cpuparams.n_threads = 1
    settings.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(settings)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
