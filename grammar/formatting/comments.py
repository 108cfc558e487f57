"""The page: items and comments written in the order of the source."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import groupby

from assay.grammar.formatting.items import PrintedItem
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.syntax import Comment

#: Comments behind neighbouring lines are aligned unless that pushes them beyond this column.
ALIGNED_UP_TO = 76
INDENT = "    "


@dataclass(slots=True)
class _Line:
    text: str
    comment: str | None = None


class PrintedPage:
    """The lines written so far, and the comments still to be written, by line."""

    def __init__(self, comments: Iterable[Comment]) -> None:
        self.lines: list[_Line] = []
        self.waiting = deque(comments)
        self.blank_wanted = False  # before what comes next, whatever the source has
        self.tight = True  # what was written last has no place, so that the distance to it is unknown
        self.depth = 0
        self.column = 1  # where what was written last begins in the source
        self.source_line = 0  # where it ends there

    def put(self, items: Iterable[PrintedItem]) -> None:
        """Write items, each after the comments that stand before it or inside it."""
        for item in items:
            if item.span.line > 0:
                self._comments_before(item)
            self._space(item.span.line)
            for text in item.lines:
                self.write(item.depth, text)
            self._behind(item)
            self.depth, self.tight = item.depth, item.span.line == 0
            if item.span.line > 0:
                self.column, self.source_line = item.span.column, item.span.end_line

    def finish(self) -> None:
        """Write the comments after the last item."""
        while self.waiting:
            self._comment(self.waiting.popleft(), 0, 1, None)

    def write(self, depth: int, text: str) -> None:
        """Write one line."""
        self.lines.append(_Line(INDENT * depth + text if text else ""))

    def text(self) -> str:
        """All that was written."""
        printed: list[str] = []
        for commented, run in groupby(self.lines, key=lambda each: each.comment is not None):
            lines = list(run)
            printed += _aligned(lines) if commented else [each.text for each in lines]
        return "".join(each + "\n" for each in printed)

    # ------------------------------------------------------------------------------------------------ comments

    def _comments_before(self, item: PrintedItem) -> None:
        span = item.span
        while self.waiting and self._stands_before(self.waiting[0], item):
            self._comment(self.waiting.popleft(), item.depth, span.column, span.line)

    def _stands_before(self, comment: Comment, item: PrintedItem) -> bool:
        # One behind the last line of the item stays behind it (`_behind`).
        return comment.line < item.span.end_line or (comment.line == item.span.end_line and comment.own_line)

    def _comment(self, comment: Comment, next_depth: int, next_column: int, next_line: int | None) -> None:
        """Write a comment on a line of its own, in the block before or after it, as its column suggests."""
        depth = next_depth
        if self.depth > next_depth and comment.own_line and comment.column > next_column:
            depth = self.depth if comment.column >= self.column else next_depth + 1
        # A comment from inside the next item moves up. The blank line above that item then stands above the comment.
        first = comment.line if next_line is None else min(comment.line, next_line)
        wanted = self.blank_wanted
        if depth > next_depth:
            self.blank_wanted = False  # it belongs to the block before
        self._space(first)
        self.blank_wanted = wanted and depth > next_depth
        self.write(depth, comment.text)
        self.depth, self.source_line, self.tight = depth, comment.line, False
        self.column = comment.column

    def _behind(self, item: PrintedItem) -> None:
        span = item.span
        if self.waiting and span.line > 0 and not self.waiting[0].own_line and self.waiting[0].line == span.end_line:
            self.lines[-1].comment = self.waiting.popleft().text

    def _space(self, source_line: int) -> None:
        """Write a blank line if one is wanted, or if the source has one here."""
        # One blank line at most, however many the source has.
        gap = source_line > self.source_line + 1 and self.source_line > 0 and not self.tight
        if self.lines and (self.blank_wanted or gap):
            self.lines.append(_Line(""))
        self.blank_wanted = False


def _aligned(lines: list[_Line]) -> list[str]:
    widest = max(len(each.text) for each in lines)
    # Behind a line that is too long, nothing is aligned: it would move the comments of all its neighbours to the right.
    width = widest if widest <= ALIGNED_UP_TO else 0
    return [f"{each.text:<{width}}  {each.comment}" for each in lines]
