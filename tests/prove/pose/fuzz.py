"""Random problems by the thousand: no pose may save more than the proof allows, anywhere or elsewhere.

python -m tests.prove.pose.fuzz --count 1000
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from tests.prove.pose.priors import confined_case
from tests.prove.pose.problems import examine, make_case


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--tries", type=int, default=60, help="starts of the search against a proof")
    parser.add_argument("--priors", action="store_true", help="with something known of the pose")
    chosen = parser.parse_args()
    began, bad, closed, fewer, grouped, copied, apart, about = time.perf_counter(), 0, 0, 0, 0, 0, 0, 0
    for seed in range(chosen.first, chosen.first + chosen.count):
        case = confined_case(make_case(seed)) if chosen.priors else make_case(seed)
        try:
            verdict = examine(case, tries=chosen.tries)
        except Exception:
            bad += 1
            print(f"seed {seed}: {case.told}", traceback.format_exc(), sep="\n", flush=True)
            continue
        closed += verdict.certificate.closed
        fewer += verdict.left[0] < verdict.left[1]
        grouped += verdict.grouped
        copied += verdict.copied
        apart += verdict.apart
        about += verdict.about
        for line in verdict.wrong:
            bad += 1
            print(f"seed {seed}: {case.told}: {line}", flush=True)
    seconds = time.perf_counter() - began
    kinds = f"{fewer} with pairs left out, {about} about pairs, {grouped} in groups, "
    kinds += f"{copied} with copies between grids, {apart} taken apart"
    print(f"{chosen.count} problems, {kinds}, {closed} proven, {bad} wrong, {seconds:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
