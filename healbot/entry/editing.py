"""Making the editors that the settings name: from lessons, from a file, or with a model.

Knows which prompt and which model stand behind an editor's name; asks nothing of either.
"""

from collections.abc import Callable
from typing import NamedTuple

from healbot.chat.http import Means
from healbot.chat.metered import MeteredChat, Till
from healbot.chat.table import chat_of
from healbot.editors.lessons import LessonsEditor
from healbot.editors.prompted import Guards, PromptedEditor
from healbot.editors.scripted import ScriptedEditor
from healbot.entry.templates import template
from healbot.errors import InputError
from healbot.ports import Chat, Editor, Repo
from healbot.records.settings import EditorChoice, ModelSettings, Settings
from healbot.records.settings import ScriptedEditor as Script

PROMPTS = "prompts"
"""The folder of templates that holds a text for each editor with a model."""


def _nothing() -> None:
    """Keep nothing alive."""


class Supplies(NamedTuple):
    """What editors are made from.

    Attributes:
        till: Who owns the money; None: nothing will be asked, only seen whether it could be.
        beat: Keeps the lease alive while a model is asked.
    """

    settings: Settings
    repo: Repo
    base_sha: str
    means: Means
    guards: Guards
    till: Till | None = None
    beat: Callable[[], None] = _nothing


def editors_of(supplies: Supplies) -> tuple[Editor, ...]:
    """Return the editors that the settings name, in their order.

    Raises:
        InputError: A file is not committed, or a model can't be had (its key is not set …).
    """
    return tuple(_editor(one, supplies) for one in supplies.settings.editors)


def _editor(choice: EditorChoice, supplies: Supplies) -> Editor:
    if isinstance(choice, Script):
        return _scripted(choice.scripted, supplies)
    settings = supplies.settings
    if choice == "lessons":
        return LessonsEditor(settings.lessons, supplies.means.clock.now, settings.protect)
    assert settings.models.editor  # noqa: S101 - the settings are refused without it
    return PromptedEditor(
        choice,
        template(f"{PROMPTS}/{choice}.md"),
        chat=_chat(settings.models.editor, supplies),
        limits=settings.editing,
        guards=supplies.guards,
    )


def _chat(model: ModelSettings, supplies: Supplies) -> Chat:
    chat = chat_of(model, supplies.means, part="editor")
    if supplies.till is None:
        return chat
    most = supplies.settings.editing.tokens
    return MeteredChat(chat, supplies.till, most=most, beat=supplies.beat)


def _scripted(path: str, supplies: Supplies) -> Editor:
    file = supplies.repo.tree(supplies.base_sha, path).get(path)
    if file is None:
        raise InputError(f"The scripted editor's file {path} is not committed.", "Commit it.")
    return ScriptedEditor(supplies.repo.blob(file.blob), path)
