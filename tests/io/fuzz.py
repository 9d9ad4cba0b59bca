"""Reads damaged files: each must give a valid result or an error of this library that names the file.

`python -m tests.io.fuzz --count 100000`. The readers run in a process of their own, so that one that ends
its process is noticed too; the same seed gives the same files.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from tear3d.errors import MissingExtraError, TearError
from tests.io.mutations import mutate
from tests.io.samples import Sample, make_samples

SECONDS = 5.0
"""Of processor time for one file; a process that is silent for much longer is stopped."""
SILENCE = 60.0
MEGABYTES = 300


@dataclass(frozen=True)
class Failure:
    index: int
    sample: str
    reason: str


def run(count: int, seed: int = 0, out: Path | None = None, only: str = "", show: bool = False) -> list[Failure]:
    """Read `count` mutated files; the failures, whose files are kept in `out`."""
    samples = [sample for sample in make_samples() if only in sample.name]
    failures: list[Failure] = []
    done, shown = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while done < count:
            for index, reason in _batch(folder, seed, only, done, count):
                done = index + 1
                if reason:
                    sample = samples[index % len(samples)]
                    failures.append(Failure(index, sample.name, reason))
                    if out is not None:
                        out.mkdir(parents=True, exist_ok=True)
                        shutil.copy(_path(folder, sample), out / f"{seed}_{index}_{sample.name}{sample.suffix}")
                    if show:
                        print(f"{index} {sample.name}: {reason}", flush=True)
                if show and time.monotonic() > shown + 10:
                    shown = time.monotonic()
                    print(f"{done} of {count}, {len(failures)} failures", flush=True)
    return failures


def _batch(folder: Path, seed: int, only: str, start: int, stop: int):
    """Results from a process of its own, until it is through or a file was its last."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, folder, seed, only, start, stop), daemon=True)
    process.start()
    theirs.close()
    index = start - 1
    try:
        if ours.recv() != "ready":
            raise RuntimeError("the readers could not be started")
        while index + 1 < stop:
            if not ours.poll(SILENCE):
                yield index + 1, f"silent for {SILENCE:g} s"
                return
            try:
                index, reason, last = ours.recv()
            except EOFError:
                process.join()
                yield index + 1, f"ended the process (exit code {process.exitcode})"
                return
            yield index, reason
            if last:
                return
    finally:
        process.kill()
        process.join()


def _work(pipe: Connection, folder: Path, seed: int, only: str, start: int, stop: int) -> None:
    # What native decoders print about damaged files.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    logging.disable()
    warnings.simplefilter("ignore")
    samples = [sample for sample in make_samples() if only in sample.name]
    for sample in samples:
        path = _path(folder, sample)
        sample.write(path, sample.data)
        assert sample.valid(sample.read(path)), sample.name
    usual = _peak_megabytes()
    pipe.send("ready")
    for index in range(start, stop):
        sample = samples[index % len(samples)]
        path = _path(folder, sample)
        others = [other.data for other in samples if other.suffix == sample.suffix]
        path.unlink(missing_ok=True)
        sample.write(path, mutate(Random(f"{seed} {index}"), sample.data, others))
        began = time.process_time()
        reason = _judge(sample, path)
        seconds, growth = time.process_time() - began, _peak_megabytes() - usual
        if seconds > SECONDS:
            reason = f"took {seconds:.1f} s"
        if growth > MEGABYTES:
            reason = f"memory grew by {growth:.0f} MB"
        pipe.send((index, reason, growth > MEGABYTES))
        if growth > MEGABYTES:
            return


def _judge(sample: Sample, path: Path) -> str:
    """What is wrong with how a file was read, or nothing."""
    try:
        valid = sample.valid(sample.read(path))
    except MissingExtraError as error:
        return str(error)
    except TearError as error:
        return "" if str(path) in str(error) else f"the message does not name the file: {error}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "" if valid else "the result is not valid"


def _path(folder: Path, sample: Sample) -> Path:
    return folder / f"{sample.name}{sample.suffix}"


def _peak_megabytes() -> float:
    try:
        import resource
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="how many files")
    parser.add_argument("--seed", type=int, default=0, help="which files")
    parser.add_argument("--only", default="", help="only samples with this in their name")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"), help="where files that failed are kept")
    options = parser.parse_args()
    names = [sample.name for sample in make_samples() if options.only in sample.name]
    if not names:
        parser.error(f"no sample has {options.only!r} in its name")
    print(", ".join(names))
    failures = run(options.count, options.seed, options.out, options.only, show=True)
    print(f"{options.count} mutations, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
