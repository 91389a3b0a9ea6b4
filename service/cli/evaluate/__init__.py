"""Commands that measure searches: ``fuzi evaluate`` and ``fuzi tune``."""
