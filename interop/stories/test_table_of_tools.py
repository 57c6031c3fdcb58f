"""README.md's table of Kafka's tools: those that stories run, no other, and each."""

import pathlib
import re

from harness.tools import TOOLS

STORIES = pathlib.Path(__file__).parent
README = STORIES.parent.parent / "README.md"


def test_readme_lists_the_tools_that_are_tested():
    listed = re.findall(r"^\| `(kafka-[\w-]+)` \|", README.read_text(), re.MULTILINE)
    assert listed == sorted(TOOLS)
    told = "\n".join(story.read_text() for story in [*STORIES.glob("*.py"), STORIES.parent / "harness" / "tools.py"])
    typed = set(re.findall(r'(?:shell|self|attempt|TOOL =)\(? ?"(kafka-[\w-]+)"', told))
    assert sorted(typed) == listed
