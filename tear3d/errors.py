"""What the library raises; every message names the argument, what is wrong and what is expected."""

from __future__ import annotations


class TearError(Exception):
    """Base of everything tear3d raises on purpose."""


class InputError(TearError, ValueError):
    """The input cannot be a registration problem (wrong shape, NaN, too few pairs, ...)."""


class CollapsedError(InputError):
    """All points of a cloud coincide; `cloud` is "source" or "target"."""

    def __init__(self, message: str, cloud: str = "") -> None:
        super().__init__(message)
        self.cloud = cloud


class MissingExtraError(TearError, ImportError):
    """An optional dependency is needed; the message says which extra to install."""

    def __init__(self, package: str, extra: str, what: str) -> None:
        super().__init__(f"{what} needs the package {package}: pip install 'tear3d[{extra}]'")
        self._given = (package, extra, what)

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str], dict[str, object]]:
        return type(self), self._given, self.__dict__


class StoppedError(TearError):
    """A call was stopped before it had anything to return; the message says by what and during which step."""

    def __init__(self, message: str, ended: str = "interrupted") -> None:
        super().__init__(message)
        self.ended = ended
        """"time_limit" or "interrupted", as the status of a result would be."""


class ClusterError(TearError):
    """A cluster was lost in the middle of a call; the message says how to go on."""


class FileFormatError(InputError):
    """A file could not be read as what it claims to be; the message names the file."""


class WorkerError(TearError):
    """What solved a problem of many is lost, or its answer could not travel; the message says how."""
