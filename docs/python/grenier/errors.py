"""What may go wrong, beside OSError."""


class Error(Exception):
    """All errors of this package are of this kind."""


class Corrupt(Error):
    """A file is damaged, cut short, of another kind, or made by a newer program."""


class ServerError(Error):
    """A web server does not answer, or not as it must."""


class Unsolved(Error):
    """A board has more seeds than are solved."""


def check(ok: object, what: str) -> None:
    """Raises Corrupt unless ok."""
    if not ok:
        raise Corrupt(what)
