"""The process that answers one question: ``python -m assay.agents.worker``. It ends when the one that asks has ended."""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

from assay.agents.answers import answer_to


def main() -> None:
    """Read a question from standard input, a line of JSON, and write its answer to standard output."""
    asked = json.loads(sys.stdin.buffer.readline())
    # Whatever prints while the answer is made must not get into it.
    answers, sys.stdout = sys.stdout, sys.stderr
    threading.Thread(target=_end_with_the_asker, daemon=True).start()
    found: dict[str, Any] = answer_to(asked["kind"], asked["question"])
    # ASCII: the locale of the process may have any encoding.
    answers.write(json.dumps(found, ensure_ascii=True))
    answers.flush()
    os._exit(0)  # not to wait for a thread that reads


def _end_with_the_asker() -> None:
    """The other end of standard input is open as long as somebody waits for the answer."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
