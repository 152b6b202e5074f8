"""The one kind of expected error of this folder: what can't be used, where, and what to do.

Knows no file and no exit code. Whoever reads a file adds its name and line to a ``FieldError``.
"""


class SeamError(ValueError):
    """An input, an option or a request that can't be used.

    Attributes:
        what: One sentence: which file, line and field, and what is wrong.
        next_step: What to do now.
    """

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step


class FieldError(ValueError):
    """A field of a record that can't be used; knows the field, not the file.

    Attributes:
        field: Its dotted name, for instance ``trigger.failure_signature``.
        what: What is wrong with it.
    """

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"{field}: {what}")
        self.field = field
        self.what = what


def at_line(error: FieldError, name: str, line: int) -> SeamError:
    """Say in which file and line a field is wrong."""
    where = f"{name}, line {line}" if line else name
    what = f"{where}, field {error.field}: {error.what}."
    return SeamError(what, "Correct that line, or take it out." if line else "Correct that file.")
