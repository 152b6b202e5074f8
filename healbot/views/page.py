"""The report as one HTML page: headings, sentences, tables, and pictures where they can be drawn.

Knows plain facts and HTML; every text is escaped, whoever wrote it. No script, no address of any
server: the page reads the same from a disk, a mail or an artifact.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from string import Template
from typing import Any, NamedTuple

from healbot.views.chart import Picture, Series, bars, dots, lying_bars
from healbot.views.plain import one_line

Facts = Mapping[str, Any]
TEXT_LIMIT = 300
SHOWN_CYCLES = 20
SHOWN_DIGEST = 10
MARK = '<meta name="generator" content="healbot report">'
"""What tells a page of ours from any other file."""


class Column(NamedTuple):
    """One column: its heading, what it shows of a row, and whether that is a number."""

    head: str
    cell: Callable[[Facts], str]
    number: bool = False


def render(facts: Facts, template: str, *, pictures: bool) -> str:
    """Return the page.

    Args:
        facts: What ``entry/report_facts.py`` gathers, which is what ``--json`` prints.
        template: The page's frame, with ``$title`` and ``$body``.
        pictures: Whether pictures can be drawn here.
    """
    agents = facts["agents"]
    names = [one["agent"] for one in agents]
    title = f"healbot report: {', '.join(names)}"
    links = "".join(f'<li><a href="#{_id(name)}">{_text(name)}</a></li>' for name in names)
    nav = f'<nav aria-label="Agents"><ul>{links}</ul></nav>' if len(names) > 1 else ""
    body = [
        f"<header><h1>{_text(title)}</h1>",
        (
            f'<p class="soft">Branch {_code(facts["base"])}, mode {_text(facts["mode"])}. '
            f"Made on {_text(facts['made_at'])} UTC by healbot {_text(facts['version'])}.</p>"
        ),
        nav,
        "</header><main>",
        _stopped(facts),
        _budgets(facts["budget"]),
        *(_agent(one, place, pictures=pictures) for place, one in enumerate(agents)),
        "</main>",
    ]
    return Template(template).substitute(title=_text(title), body="\n".join(body))


def _stopped(facts: Facts) -> str:
    by = facts["stopped_by"]
    return f'<p class="fail"><strong>Stopped by {_text(by)}.</strong></p>' if by else ""


def _budgets(budget: Facts) -> str:
    rows = [
        {"span": span, "kind": kind, "spent": one["spent"][kind], "limit": limit}
        for span, one in budget.items()
        for kind, limit in one["limits"].items()
    ]
    columns = (
        Column("budget of", lambda row: _text(f"this {row['span']}, {row['kind']}")),
        Column("spent", lambda row: _amount(row["kind"], row["spent"]), number=True),
        Column("limit", lambda row: _amount(row["kind"], row["limit"]), number=True),
        Column("used", _meter),
    )
    spent = "".join(
        f"<li>This {_text(span)}: {one['spent']['runs']:,} runs, "
        f"{one['spent']['tokens']:,} tokens, {_amount('usd', one['spent']['usd'])}, "
        f"{one['spent']['minutes']:,.1f} minutes</li>"
        for span, one in budget.items()
    )
    caption = "All agents together; days and months begin at midnight UTC."
    limits = _table(rows, columns, caption) if rows else "<p>No day or month has a limit.</p>"
    return f'<section><h2>Spend against budget</h2><ul class="facts">{spent}</ul>{limits}</section>'


def _agent(one: Facts, place: int, *, pictures: bool) -> str:
    name = _text(one["agent"])
    parts = [
        f'<section><h2 id="{_id(one["agent"])}">{name}</h2>',
        '<ul class="facts">',
        f"<li>Live revision {_digest(one['revision'])}</li>",
        f"<li>{one['runs']['spent']} runs counted in {len(one['cycles'])} cycles</li>",
        f"<li>Ledger: {one['ledger']['entries']} entries, head ",
        f"{_digest(one['ledger']['head'])}</li></ul>",
        _questions(one["questions"]),
        _revisions(one, place, pictures=pictures),
        _verdicts(one, place, pictures=pictures),
        _cycles(one, place, pictures=pictures),
        _cases(one["cases"]),
        "</section>",
    ]
    return "\n".join(parts)


def _questions(questions: Sequence[Facts]) -> str:
    if not questions:
        return "<h3>Open questions</h3><p>None: nothing waits for a person.</p>"
    items = "".join(
        f"<li><strong>{_text(one['what'])}</strong>: {_text(one['text'])}</li>" for one in questions
    )
    return f'<h3>Open questions</h3><ul class="questions">{items}</ul>'


def _revisions(one: Facts, place: int, *, pictures: bool) -> str:
    rows = one["revisions"]
    if not rows:
        return "<h3>Pass rate per revision</h3><p>No cycle has run yet.</p>"
    figure = ""
    if pictures:
        rates = [row["rate"] and round(row["rate"] * 100, 1) for row in rows]
        series = [Series("pass rate", rates)]
        for word in ("merge", "revert"):
            marks = [
                rate if row["how"].startswith(word) else None
                for rate, row in zip(rates, rows, strict=True)
            ]
            series += (
                [Series(word, marks, mark=True)] if any(one is not None for one in marks) else []
            )
        labels = [f"{n}. {row['how']}" for n, row in enumerate(rows, start=1)]
        tells = "; ".join(
            f"{label}: {'no runs' if rate is None else f'{rate:g} %'}"
            for label, rate in zip(labels, rates, strict=True)
        )
        picture = Picture(f"rate-{place}", "Pass rate per revision", tells, labels, series, 100)
        figure = _figure(dots(picture, " %"), "Share of scored runs that passed, oldest first.")
    columns = (
        Column("no.", lambda row: _text(row["number"])),
        Column("revision", lambda row: _digest(row["revision"])),
        Column("since", lambda row: _time(row["at"])),
        Column("came by", lambda row: _text(row["how"])),
        Column("passed", lambda row: _text(row["pass"]), number=True),
        Column("failed", lambda row: _text(row["fail"]), number=True),
        Column("not scored", lambda row: _text(row["none"]), number=True),
        Column("pass rate", lambda row: _share(row["rate"]), number=True),
    )
    numbered = [{**row, "number": n} for n, row in enumerate(rows, start=1)]
    caption = (
        "Runs that measuring, earning, gate and canary used; replays of failures and probes are "
        "left out, because they were chosen for an outcome."
    )
    return (
        "<h3>Pass rate per revision</h3>"
        + figure
        + _table(numbered, columns, caption)
        + _accounted(one["runs"])
    )


def _accounted(runs: Facts) -> str:
    """Say where every run that was counted is to be found."""
    return (
        f'<p class="soft">Of {runs["spent"]} runs counted: {runs["rated"]} in this table, '
        f"{runs['chosen']} replays and probes, {runs['never_live']} of edits that never went live, "
        f"{runs['no_decision']} that no decision used (cut off or given up).</p>"
    )


def _verdicts(one: Facts, place: int, *, pictures: bool) -> str:
    rows = one["verdicts"]
    if not rows:
        return "<h3>Verdicts</h3><p>No edit has been judged yet.</p>"
    figure = ""
    if pictures:
        upwards = rows[::-1]  # lying bars are drawn from below
        fixed = Series("fixed its trigger", [row["fixed_trigger"] for row in upwards])
        other = Series("did not", [row["times"] - row["fixed_trigger"] for row in upwards])
        labels = [row["rule"] for row in upwards]
        tells = "; ".join(f"{row['word']} by {row['rule']}: {row['times']}" for row in rows)
        picture = Picture(f"verdicts-{place}", "Verdicts by reason", tells, labels, [fixed, other])
        figure = _figure(lying_bars(picture), "How often each rule decided.")
    columns = (
        Column("verdict", lambda row: _text(row["word"])),
        Column("by rule", lambda row: _code(row["rule"])),
        Column("where", lambda row: _text(row["stage"])),
        Column("times", lambda row: _text(row["times"]), number=True),
        Column(
            "fixed its trigger", lambda row: _of(row["fixed_trigger"], row["times"]), number=True
        ),
        Column("… and broke a case", lambda row: _of(row["broke"], row["times"]), number=True),
    )
    caption = (
        "The first rule that spoke. Broke a case: a held-out, corpus or training case got worse."
    )
    return "<h3>Verdicts by reason</h3>" + figure + _table(rows, columns, caption)


def _cycles(one: Facts, place: int, *, pictures: bool) -> str:
    rows = one["cycles"][-SHOWN_CYCLES:]
    if not rows:
        return "<h3>Cycles</h3><p>No cycle has run yet.</p>"
    figure = ""
    if pictures:
        series = [
            Series("at most (forecast)", [row["forecast"]["runs"] for row in rows]),
            Series("spent", [row["spent"]["runs"] for row in rows]),
        ]
        labels = [row["at"][:10] for row in rows]
        tells = "; ".join(
            f"{row['cycle']}: {row['spent']['runs']} of {row['forecast']['runs']}" for row in rows
        )
        picture = Picture(f"cycles-{place}", "Runs per cycle", tells, labels, series)
        figure = _figure(bars(picture), "Runs of each cycle beside its forecast.")
    columns = (
        Column("cycle", lambda row: _code(row["cycle"])),
        Column("began", lambda row: _time(row["at"])),
        Column("mode", lambda row: _text(row["mode"])),
        Column("outcome", lambda row: _text(row["outcome"])),
        Column(
            "runs, of at most",
            lambda row: _of(row["spent"]["runs"], row["forecast"]["runs"]),
            number=True,
        ),
        Column("tokens", lambda row: _amount("tokens", row["spent"]["tokens"]), number=True),
        Column("money", lambda row: _amount("usd", row["spent"]["usd"]), number=True),
        Column(
            "minutes", lambda row: _amount("minutes", row["spent"]["seconds"] / 60), number=True
        ),
    )
    left = len(one["cycles"]) - len(rows)
    older = f" {left} older ones are left out here." if left else ""
    caption = f"A run that reported nothing counts the stated worst case.{older}"
    return "<h3>Cycles</h3>" + figure + _table(rows, columns, caption)


def _cases(rows: Sequence[Facts]) -> str:
    columns = (
        Column("case", lambda row: _code(row["id"])),
        Column("split", lambda row: _text(row["split"])),
        Column("standing", lambda row: _text(row["standing"])),
        Column("safety", lambda row: "yes" if row["safety"] else "no"),
        Column("passed", lambda row: _text(row["pass"]), number=True),
        Column("failed", lambda row: _text(row["fail"]), number=True),
        Column("not scored", lambda row: _text(row["none"]), number=True),
    )
    caption = "Counts are runs under the live revision, as in the table of revisions."
    return "<h3>Cases</h3>" + _table(rows, columns, caption)


def _table(rows: Sequence[Facts], columns: Sequence[Column], caption: str) -> str:
    """Return a table; roles are spelled out because narrow screens show its cells as blocks."""
    heads = "".join(
        f'<th scope="col" role="columnheader"{_class(one)}>{_text(one.head)}</th>'
        for one in columns
    )
    lines = "".join(f'<tr role="row">{_row(row, columns)}</tr>' for row in rows)
    return (
        f'<table role="table"><caption>{_text(caption)}</caption>'
        f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead>'
        f'<tbody role="rowgroup">{lines}</tbody></table>'
    )


def _row(row: Facts, columns: Sequence[Column]) -> str:
    return "".join(
        f'<td role="cell" data-label="{_text(one.head)}"{_class(one)}>'
        f"<span>{one.cell(row)}</span></td>"
        for one in columns
    )


def _class(column: Column) -> str:
    return ' class="number"' if column.number else ""


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{_text(caption)}</figcaption></figure>"


def _meter(row: Facts) -> str:
    """Show how much of a limit is used, in words and as a bar."""
    if not row["limit"]:
        return "nothing is allowed"
    share = row["spent"] / row["limit"]
    over = ' class="over"' if share > 1 else ""
    width = min(100, round(share * 100))
    bar = (
        f'<span class="meter" aria-hidden="true"><span{over} style="width:{width}%"></span></span>'
    )
    return f"{share:.0%}{bar}"


def _amount(kind: str, value: float | None) -> str:
    if value is None:
        return "–"
    if kind == "usd":
        return f"${value:,.2f}"
    return f"{value:,.1f}" if kind == "minutes" else f"{value:,.0f}"


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.0%})" if whole else f"{part} of {whole}"


def _share(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.0%}"


def _time(at: str) -> str:
    return f'<time datetime="{_text(at)}">{_text(at[:16].replace("T", " "))}</time>'


def _digest(text: str) -> str:
    return f'<code title="{_text(text)}">{_text(text[:SHOWN_DIGEST])}</code>'


def _code(text: object) -> str:
    return f"<code>{_text(text)}</code>"


def _text(value: object) -> str:
    return escape(one_line(str(value), TEXT_LIMIT), quote=True)


def _id(name: str) -> str:
    return "agent-" + "".join(one if one.isalnum() else "-" for one in name)
