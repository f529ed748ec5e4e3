"""The room loads without scipy."""

import subprocess
import sys


def test_the_convex_room_loads_without_scipy():
    script = "import sys, klapper.convex; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
