"""Every error a person can meet: one tree, each message saying what happened and what to do about it."""

from __future__ import annotations


class LongdocError(Exception):
    """The root of the tree. ``str(error)`` is one clear sentence for a person; no traceback is shown."""


class SettingsError(LongdocError):
    """A setting in the environment or the config file cannot be used."""


class EncoderError(LongdocError):
    """An encoder cannot be loaded, is damaged, or was given what it cannot encode."""


class LibraryError(LongdocError):
    """A library cannot be opened, read or written."""


class LibraryNotFoundError(LibraryError):
    """There is no library where one was looked for."""


class LibraryLockedError(LibraryError):
    """Another process is writing to the library; the message says which and since when."""


class RecipeMismatchError(LibraryError):
    """The library was built with another encoder or other chunking; the message says what to run."""


class DamagedError(LibraryError):
    """Stored data fails a check; the message says what is affected and what to run."""


class DocumentNotFoundError(LongdocError):
    """No document has this id, or no path matches."""


class QueryError(LongdocError):
    """A filter or option of a search cannot be understood (a query's text never raises)."""


class EvaluationError(LongdocError):
    """An evaluation folder is missing a part or has one that cannot be read."""


class PageError(LongdocError):
    """A page of a document cannot be shown."""
