"""Matched records, packed in columns: what similar messages have in common is kept once, and of each message its
digits.

In: blocks of raw text in the stock Log4j layout, and records that were matched one by one. Out: ``PackedRecords``, a
sequence that makes each record when it is read.

This is a room of its own because it holds the machine code and the array layouts. Which text is read, and what a record
means, is decided in ``input`` and ``patterns``. Why columns: ``docs/design/packed-records.md``.
"""
