"""The first call of a process waits for kernels to be loaded, and says so."""

import subprocess
import sys

CALLS = """
import time, tear3d, tear3d.api
made = tear3d.synthetic.make_problem(500, outlier_ratio=0.5, seed=1)
for _ in range(2):
    began = time.perf_counter()
    result = tear3d.register(made.source, made.target, noise_bound=made.noise_bound, certify=False)
    print(time.perf_counter() - began, sum(result.seconds.values()), "loading" in result.seconds)
"""


def test_the_steps_of_a_first_call_add_up_to_it():
    out = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=True).stdout
    (took, told, loading), (_, _, again) = (line.split() for line in out.splitlines())
    assert float(told) > 0.5 * float(took)
    assert (loading, again) == ("True", "False")
