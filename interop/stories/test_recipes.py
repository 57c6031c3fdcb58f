"""docs/recipes.md, run from top to bottom as it stands there."""

import os
import pathlib
import re
import subprocess

RECIPES = pathlib.Path(__file__).parents[2] / "docs" / "recipes.md"


def commands():
    """The lines of all blocks of code, in order."""
    blocks = re.findall(r"^```\n(.*?)^```$", RECIPES.read_text(), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()]


def test_every_recipe_works(own_server, pytestconfig, tmp_path):
    binary = pathlib.Path(pytestconfig.getoption("--cli")).resolve()
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "milepost").symlink_to(binary)
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "MILEPOST_BOOTSTRAP": own_server.bootstrap,
        "MILEPOST_SNAPSHOTS": str(tmp_path / "snapshots"),
    }

    def run(line, stdin=""):
        return subprocess.run(
            ["bash", "-c", line], env=environment, cwd=tmp_path, input=stdin, capture_output=True, text=True, timeout=120
        )

    lines = "".join(f"order {number}\n" for number in range(20))
    assert run("milepost topic create orders -p 2 && milepost produce orders", stdin=lines).returncode == 0
    assert run("milepost consume orders --group billing --count 4").returncode == 0
    found = commands()
    assert len(found) > 10
    for line in found:
        ran = run(line)
        assert ran.returncode == 0, f"{line}\n{ran.stdout}\n{ran.stderr}"
