"""Measure the package that is found first, whose own data has been generated: seconds or bytes, as JSON.

``one_catalog.py LANGUAGE seconds|bytes``; for a process of its own.
"""

import gc
import json
import sys
import time
import timeit
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from mcp_auth_failures import Wording, load_catalog
from mcp_auth_failures.catalog import read_catalog

PATH = str(load_catalog().path)
DATA = Path(PATH).read_bytes()
CALLS = 2_000


def seconds(language: str) -> dict[str, float]:
    """How long it takes to read the catalog, to use one language for the first time, and to have read all."""
    Wording(env=False).describe("expired", language)  # what is imported at first use is not the language's
    collected = timed(lambda: read_catalog(PATH, DATA))
    gc.disable()  # it walks through PyYAML's nodes again and again, the more the more there are
    catalog = min(timed(lambda: read_catalog(PATH, DATA)) for _ in range(3))
    wording = Wording(env=False)
    use = timed(lambda: wording.describe("expired", language))
    load = timed(wording.load)
    gc.enable()

    def often(languages: str) -> float:
        code = "describe('expired', languages)"
        names = {"describe": wording.describe, "languages": languages}
        return min(timeit.repeat(code, globals=names, timer=time.thread_time, repeat=25, number=CALLS)) / CALLS

    return {
        "collected_seconds": collected,
        "catalog_seconds": catalog,
        "use_seconds": use,
        "load_seconds": use + load,
        "describe_seconds": often(language),
        "negotiate_seconds": often(f"xx, {language};q=0.5"),
    }


def size(language: str) -> dict[str, float]:
    """What stays in memory after the same; Python's own account of it."""
    Wording(env=False).describe("expired", language)  # what is imported at first use is not the language's
    tracemalloc.start()
    catalog = read_catalog(PATH, DATA)
    read = traced()
    wording = Wording(catalog, env=False)
    start = traced()
    wording.describe("expired", language)
    use = traced()
    wording.load()
    return {"catalog_bytes": read, "use_bytes": use - start, "load_bytes": traced() - read}


def timed(call: Callable[[], object]) -> float:
    """The seconds that one call takes."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def traced() -> int:
    """The bytes that are in use."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


print(json.dumps({"seconds": seconds, "bytes": size}[sys.argv[2]](sys.argv[1])))
