"""Which changed paths a run was not to touch.

Knows path texts only, from a workspace's root, with forward slashes.
"""

from collections.abc import Iterator, Sequence

from healbot.rules.globs import matches, tidy


def edited(changed: Sequence[str], protect: Sequence[str], folder: str) -> str | None:
    """Return the first changed path that is protected, or None.

    Args:
        changed: Paths from the workspace's root that a run added, changed or removed.
        protect: Globs, from the root or from the agent's folder. What a glob names is protected
            with all that lies below it, and ``tests/**`` protects ``tests`` itself too, so that it
            can't be exchanged for a link.
        folder: The agent's folder from the root; empty or ``.`` where it is the root.
    """
    inner = tidy(folder)
    globs = [tidy(glob) for glob in protect]
    rooted = [glob for glob in globs if glob]
    rooted += [f"{inner}/{glob}" for glob in rooted if inner]
    wanted = [name for glob in rooted for name in (glob, glob.removesuffix("/**"))]
    above = tuple(_above(inner)) if rooted else ()
    for path in sorted(map(tidy, changed)):
        if path in above or any(matches(name, glob) for name in _above(path) for glob in wanted):
            return path
    return None


def _above(path: str) -> Iterator[str]:
    """Yield a path and every folder above it."""
    parts = path.split("/") if path else []
    for depth in range(len(parts), 0, -1):
        yield "/".join(parts[:depth])
