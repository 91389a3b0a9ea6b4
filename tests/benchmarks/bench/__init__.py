"""``make bench``: Fuzi beside the floor that PostgreSQL sets, and beside what people would use instead.

The programs below ``peers`` and ``load/drive.py`` run in other virtual environments too: this file imports nothing.
"""
