"""Pictures as SVG text, by pygal: text stays text, and colours are the page's own variables.

Knows series of numbers and their labels, and nothing of what they mean. pygal is the extra
``report``: it is imported here only, and only when a picture is drawn.
"""

import importlib.util
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

SVG = "http://www.w3.org/2000/svg"
WIDTH, HEIGHT = 420, 260
TEXT_SIZE = 12
ASLANT = 35
MARK_SIZE = 8
STEPS = 5
ROUND = (1, 2, 5, 10)
UPRIGHT = 4
"""Up to so many labels stand side by side; more are set aslant."""
COLOURS = ("var(--first)", "var(--second)", "var(--third)", "var(--fourth)")


class Series(NamedTuple):
    """One line of dots, or one group of bars; None where there is no value.

    ``mark`` dots stand out, and no line joins them.
    """

    name: str
    values: Sequence[float | None]
    mark: bool = False


class Picture(NamedTuple):
    """What is drawn.

    Attributes:
        name: A word that no other picture of the page has.
        title, tells: For those who can't see it: what it is, and what it tells in a sentence.
        labels: Along the axis, one a value.
        most: Where the axis of values ends; None: where the values do.
    """

    name: str
    title: str
    tells: str
    labels: Sequence[str]
    series: Sequence[Series]
    most: float | None = None


def dots(picture: Picture, unit: str = "") -> str:
    """Draw values as dots joined by a line within each series."""
    return _draw("Line", picture, {"dots_size": 4, "margin_right": 44}, unit=unit)


def bars(picture: Picture, unit: str = "") -> str:
    """Draw upright bars, the series side by side."""
    options = {"x_label_rotation": ASLANT if len(picture.labels) > UPRIGHT else 0}
    return _draw("Bar", picture, options, unit=unit)


def lying_bars(picture: Picture, unit: str = "") -> str:
    """Draw lying bars, the series one behind the other; for labels that are words."""
    return _draw("HorizontalStackedBar", picture, {}, unit=unit)


def _draw(kind: str, picture: Picture, options: Mapping[str, Any], *, unit: str) -> str:
    pygal = _pygal()
    from pygal.style import Style  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra

    ink, soft, none = "var(--ink)", "var(--line)", "transparent"
    style = Style(
        background=none, plot_background=none, foreground=ink, foreground_strong=ink,
        foreground_subtle=soft, colors=COLOURS, font_family="inherit", opacity="1",
        label_font_size=TEXT_SIZE, major_label_font_size=TEXT_SIZE, legend_font_size=TEXT_SIZE,
        transition="0s", guide_stroke_color=soft, major_guide_stroke_color=soft,
    )  # fmt: skip
    chart = getattr(pygal, kind)(
        style=style, js=(), width=WIDTH, height=HEIGHT, legend_at_bottom=True,
        legend_at_bottom_columns=len(picture.series), legend_box_size=TEXT_SIZE,
        show_legend=len(picture.series) > 1,
        truncate_label=14, truncate_legend=-1, min_scale=2, max_scale=6,
        value_formatter=lambda value: f"{value:g}{unit}",
        include_x_axis=True,
        **{"margin": 6, **options},
    )  # fmt: skip
    chart.uuid = picture.name
    chart.x_labels = [*picture.labels]
    chart.y_labels = _scale(picture, stacked=kind == "HorizontalStackedBar")
    for one in picture.series:
        marked = {"stroke": False, "dots_size": MARK_SIZE} if one.mark else {}
        chart.add(one.name, [*one.values], **marked)
    return _trimmed(chart.render_tree(), picture)


def _pygal() -> Any:
    """Import pygal, without the hook for its own plug-ins that it leaves in every later import."""
    before = [*sys.meta_path]
    import pygal  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra, only for pictures

    sys.meta_path[:] = before
    return pygal


def can_draw() -> bool:
    """Say whether the extra is installed."""
    return importlib.util.find_spec("pygal") is not None


def _scale(picture: Picture, *, stacked: bool) -> list[int]:
    """Return whole numbers from 0 to the end of the axis, a few steps apart."""
    columns = zip(*(one.values for one in picture.series), strict=True)
    sums = [sum(one or 0 for one in column) for column in columns] if stacked else []
    values = [one or 0 for series in picture.series for one in series.values]
    most = math.ceil(picture.most or max([1, *sums, *values]))
    unit = 10 ** int(math.log10(max(1, most / STEPS)))
    step = next(one * unit for one in ROUND if one * unit * STEPS >= most)
    return [*range(0, most + step, step)]


def _trimmed(root: ET.Element, picture: Picture) -> str:
    """Take scripts, comments and tooltips out, and give the picture a name and a description."""
    for parent in [*root.iter()]:
        for child in [*parent]:
            tag = child.tag if isinstance(child.tag, str) else "comment"
            hover = "tooltip-overlay" in child.get("class", "") or tag.endswith("desc")
            if hover or tag.endswith("script") or tag == "comment":
                parent.remove(child)
    title, tells = f"{picture.name}-title", f"{picture.name}-tells"
    root.set("role", "img")
    root.set("aria-labelledby", f"{title} {tells}")
    for place, (tag, name, text) in enumerate(
        (("title", title, picture.title), ("desc", tells, picture.tells))
    ):
        said = ET.Element(tag, {"id": name})
        said.text = text
        root.insert(place, said)
    return ET.tostring(root, encoding="unicode")
