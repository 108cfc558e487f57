"""``assay explore --tui``: the walk in a terminal, with the answers that the page gets too."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from assay.explorer.session import PATH_PAGE, ExplorerError, ExplorerSession

EARLIER = "earlier"
HOLDS = {True: ("✓", "$text-success"), False: ("✗", "$text-error"), None: ("?", "$text-warning")}


class ExplorerApp(App[None]):
    """Three columns: the walk, the state with properties and watched expressions, and the steps from here."""

    CSS = """
    #walk, #steps { width: 1fr; height: 1fr; border: round $primary; }
    #middle { width: 1fr; border: round $primary; padding: 0 1; }
    #line { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("u", "undo", "back"),
        ("r", "refused", "what is refused"),
        ("slash", "ask('search')", "search"),
        ("w", "ask('watch')", "watch"),
        ("s", "scenario", "as scenario"),
        ("escape", "close", ""),
        ("q", "quit", "quit"),
    ]

    def __init__(self, session: ExplorerSession) -> None:
        super().__init__()
        self.title = session.stepper.kernel.name
        self._session = session
        self._path: list[dict[str, Any]] = []
        self._at = 0
        self._earlier = 0
        self._search = ""
        self._shows_refused = False
        self._watched: list[str] = []
        self._asked = ""

    def compose(self) -> ComposeResult:
        """The columns, the line for what is written, and the keys."""
        with Horizontal():
            yield OptionList(id="walk")
            with VerticalScroll(id="middle"):
                yield Static(id="state")
            yield OptionList(id="steps")
        yield Input(id="line")
        yield Footer()

    def on_mount(self) -> None:
        """Begin with the run that was opened, else with the initial states."""
        found = self._answer("start")
        self.query_one("#walk").border_title = "walk"
        self.query_one("#middle").border_title = self.title
        opened = found["opened"]
        if opened is not None:
            self._path, self._at = opened["path"], len(opened["path"]) - 1
            self._earlier = opened["count"] - len(opened["path"])
            if opened["note"]:
                self.notify(opened["note"])
        elif len(found["initial"]) == 1:
            self._path = [self._answer("begin", number=0)]
        self._draw()
        self.query_one("#steps").focus()

    # ---------------------------------------------------------------------------------------------------- keys

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go to a moment of the walk, or take a step."""
        if event.option.id == EARLIER:
            self._show_earlier()
        elif event.option_list.id == "walk":
            # The first option is `… earlier`, if there is one.
            self._at = event.option_index - bool(self._earlier)
        elif event.option.id is not None:
            self._take(int(event.option.id))
        self._draw()

    def _take(self, number: int) -> None:
        if not self._path:
            self._path, self._search = [self._answer("begin", number=number)], ""
            return
        step = self._answer("take", node=self._node, number=number, search=self._search)
        if step:
            self._path[self._at + 1 :] = [step]
            self._at += 1
            self._search = ""

    def _show_earlier(self) -> None:
        """Put moments of a long run before those that are shown."""
        count = min(self._earlier, PATH_PAGE)
        found = self._answer("path", node=int(self._path[0]["node"]) - count, count=count)["path"]
        self._path[:0] = found
        self._at += len(found)
        self._earlier -= len(found)

    def action_undo(self) -> None:
        """Go to the moment before; from an initial state to the list of them."""
        if self._at == 0 and self._earlier:
            self._show_earlier()
        if self._at == 0:
            self._path = []
        self._at = max(self._at - 1, 0)
        self._draw()

    def action_refused(self) -> None:
        """List what is refused in place of what is possible, or the other way round."""
        self._shows_refused = not self._shows_refused
        self._draw()

    def action_ask(self, what: str) -> None:
        """Open the line for a search, or for an expression to watch."""
        line = self.query_one(Input)
        line.placeholder = {"search": "words, or a call such as elect(b1, _)", "watch": "an expression"}[what]
        self._asked = what
        line.value = self._search if what == "search" else ""
        line.display = True
        line.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search, or watch; an empty expression watches nothing any more."""
        text = event.value.strip()
        if self._asked == "search":
            self._search = text
        elif not text:
            self._watched.clear()
        elif self._path and self._answer("evaluate", node=self._node, text=text):
            self._watched.append(text)
        self.action_close()
        self._draw()

    def action_close(self) -> None:
        """Close the line."""
        self.query_one(Input).display = False
        self.query_one("#steps").focus()

    def action_scenario(self) -> None:
        """Show the walk as a scenario, until something else is drawn."""
        if self._path:
            self.query_one("#state", Static).update(Content(self._answer("scenario", node=self._node).get("text", "")))

    # ------------------------------------------------------------------------------------------------- drawing

    @property
    def _node(self) -> int:
        return int(self._path[self._at]["node"])

    def _answer(self, question: str, **data: Any) -> dict[str, Any]:
        """The session's answer; nothing, and a message, where it has none."""
        try:
            return self._session.answer(question, data)
        except ExplorerError as error:
            self.notify(str(error), severity="warning", markup=False)
            return {}

    def _draw(self) -> None:
        walk = self.query_one("#walk", OptionList)
        walk.clear_options()
        if self._earlier:
            walk.add_option(Option(Content(f"… {self._earlier:,} earlier"), id=EARLIER))
        walk.add_options([Content(f"{at:>3}  {each['text']}") for at, each in enumerate(self._path, self._earlier)])
        walk.highlighted = self._at + bool(self._earlier) if self._path else None
        self.query_one("#state", Static).update(self._state() if self._path else Content("choose an initial state"))
        steps = self.query_one("#steps", OptionList)
        steps.clear_options()
        steps.border_title = f"{'refused' if self._shows_refused else 'steps'} {self._search}".strip()
        steps.add_options(self._refusals() if self._shows_refused and self._path else self._steps())
        steps.highlighted = 0 if steps.option_count else None

    def _state(self) -> Content:
        view = self._answer("view", node=self._node)
        filled = {tuple(path[:length]) for path, *_ in view["cells"] for length in range(len(path))}
        lines = [_cell(*cell) for cell in view["cells"] if cell[1] is not None or tuple(cell[0]) not in filled]
        lines += [Content(f"show {each}") for each in view["shown"]]
        for text in self._watched:
            lines.append(Content(f"{text} = {self._answer('evaluate', node=self._node, text=text).get('shown', '?')}"))
        lines.append(Content(""))
        for each in view["properties"]:
            mark, style = HOLDS[each["holds"]]
            lines.append(Content.assemble((f"{mark} {each['name']}", style)))
            lines += [Content(f"    {part}") for part in _why_lines(each["why"])]
        return Content("\n").join(lines)

    def _steps(self) -> list[Option]:
        found = (
            self._answer("steps", node=self._node, search=self._search)
            if self._path
            else self._answer("initial", search=self._search)
        )
        options = [
            Option(_step(each), id=str(each["number"]))
            for each in found.get("steps", found.get("initial", []))
        ]  # fmt: skip
        if found.get("more"):
            options.append(Option(Content("… more: / searches"), disabled=True))
        return options or [Option(Content("nothing is possible: r shows what refuses it"), disabled=True)]

    def _refusals(self) -> list[Option]:
        found = self._answer("refused", node=self._node, search=self._search).get("refused", [])
        return [Option(_refusal(each), disabled=True) for each in found]


def _cell(path: list[str], value: str | None, *old: str | None) -> Content:
    """A line of the state; what the last step changed stands out, with the old value."""
    place = path[0] + "".join(part if part[0] in "[." else f": {part}" for part in path[1:])
    text = f"{'  ' * (len(path) - 1)}{place}{f' = {value}' if value else ''}"
    if value is None:
        return Content.assemble((f"{text} is gone", "$text-warning"))
    if not old:
        return Content(text)
    return Content.assemble(
        (text, "bold $text-warning"), (f"   was {old[0]}" if old[0] else "   is new", "$text-muted")
    )


def _step(each: dict[str, Any]) -> Content:
    changes = "".join(f"\n    {change}" for change in each["changes"])
    return Content.assemble((each["text"], "bold"), (changes, "$text-muted"))


def _refusal(each: dict[str, Any]) -> Content:
    lines = [
        "".join(f"\n    {part}" for part in [f"{guard['label']}: {guard['text']}", *_why_lines(guard["why"])])
        for guard in each["guards"]
    ]
    return Content(each["text"] + "".join(lines))


def _why_lines(why: dict[str, Any] | None) -> list[str]:
    """What makes a condition false, with the values that decide."""
    if why is None:
        return []
    lines = [f"{name} = {value}" for name, value in why["with"]]
    for part in why["parts"]:
        lines.append(f"{part['text']}  is {'true' if part['holds'] else 'false'}")
        lines += [f"  {name} = {value}" for name, value in part["values"]]
    return lines
