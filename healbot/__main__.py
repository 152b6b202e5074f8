"""``python -m healbot``."""

from healbot.entry.main import main

if __name__ == "__main__":
    main()
