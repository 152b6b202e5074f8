"""healbot: improves an agent's instructions from its own failures, on evidence."""

__version__ = "0.1.0"
