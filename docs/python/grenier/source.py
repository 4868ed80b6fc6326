"""Where the bytes come from: a directory, or a web server that answers range requests."""
import base64
import builtins
import http.client
import os
import re
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, Callable, Dict, List, Optional, Sequence, Tuple, TypeVar, Union

from .errors import ServerError, check
from .manifest import Entry

MANIFEST = "manifest.json"
MOST_MANIFEST = 16 << 20
HEAD = 64 << 10  # bytes of a file on a server that are asked for first
TOGETHER = 8  # requests at the same time
TIMEOUT = 20  # seconds without a byte
ATTEMPTS = 3
PAUSE = 0.25  # seconds before the second attempt, twice as much before the next
LONGEST = 20  # seconds that a server may let us wait
PASSING = {408, 429, 500, 502, 503, 504}  # statuses after which another attempt makes sense


T = TypeVar("T")
Span = Tuple[int, int]  # offset and length


class Directory:
    """A run directory on disk."""

    def __init__(self, path: str) -> None:
        self.path = os.fspath(path)
        self.manifest_name = os.path.join(self.path, MANIFEST)

    def manifest(self) -> bytes:
        """The bytes of the manifest."""
        with builtins.open(self.manifest_name, "rb") as file:
            data = file.read(MOST_MANIFEST + 1)
        check(len(data) <= MOST_MANIFEST, self.manifest_name + ": too long")
        return data

    def open(self, entry: Entry) -> "File":
        """Opens the file of a layer."""
        elsewhere = entry.directory
        if os.path.isabs(elsewhere):
            try:
                return LocalFile(os.path.join(elsewhere, entry.file))
            except FileNotFoundError:
                pass
        return LocalFile(os.path.join(self.path, entry.file))

    def close(self) -> None:
        pass


class LocalFile:
    """A file on disk."""

    unsure = False

    def __init__(self, path: str) -> None:
        self.name, self.lock = path, threading.Lock()
        self.file = builtins.open(path, "rb")
        self.size = os.fstat(self.file.fileno()).st_size

    def read(self, offset: int, length: int) -> bytes:
        """Bytes of the file."""
        with self.lock:
            self.file.seek(offset)
            data = self.file.read(length)
        check(len(data) == length, "%s: cut short" % self.name)
        return data

    def read_many(self, spans: Sequence[Span]) -> List[bytes]:
        """Bytes at several places, in their order."""
        return [self.read(offset, length) for offset, length in spans]

    def close(self) -> None:
        self.file.close()


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows to http and https only, and from https to nothing less."""

    max_redirections = 5

    def redirect_request(self, request: urllib.request.Request, fp: "IO[bytes]", code: int, message: str, headers: "http.client.HTTPMessage", address: str) -> "Optional[urllib.request.Request]":
        old, new = urllib.parse.urlsplit(request.full_url), urllib.parse.urlsplit(address)
        if new.scheme not in ("http", "https") or (old.scheme, new.scheme) == ("https", "http"):
            raise ServerError("redirected from %s to %.20s" % (old.scheme, new.scheme))
        follow = super().redirect_request(request, fp, code, message, headers, address)
        if follow is not None and (new.scheme, new.netloc) == (old.scheme, old.netloc):
            for name, value in request.unredirected_hdrs.items():
                follow.add_unredirected_header(name, value)
        return follow


class Server:
    """A run directory that a web server hands out as plain files."""

    def __init__(self, address: str) -> None:
        parts = urllib.parse.urlsplit(address)
        if parts.query or parts.fragment or not parts.hostname:
            raise ValueError("%r is not the address of a directory, like https://host/awari/" % parts._replace(netloc=parts.hostname or "").geturl())
        self.headers = {"Accept-Encoding": "identity", "User-Agent": "grenier-python"}
        if parts.username is not None:
            secret = "%s:%s" % (urllib.parse.unquote(parts.username), urllib.parse.unquote(parts.password or ""))
            self.headers["Authorization"] = "Basic " + base64.b64encode(secret.encode()).decode()
        self.base = parts._replace(netloc=parts.netloc.rpartition("@")[2], path=parts.path.rstrip("/") + "/").geturl()
        self.manifest_name = self.base + MANIFEST
        self.opener = urllib.request.build_opener(_Redirects)
        self.pool = ThreadPoolExecutor(TOGETHER, thread_name_prefix="grenier")

    def ask(self, name: str, take: "Callable[[Any], T]", headers: Dict[str, str]) -> "T":
        """Sends a request, several times if that makes sense. take reads the answer."""
        attempt = 0
        while True:
            attempt += 1
            pause: float = PAUSE * 2 ** (attempt - 1)
            reason: object
            try:
                request = urllib.request.Request(name)
                for field, value in {**self.headers, **headers}.items():
                    request.add_unredirected_header(field, value)
                with self.opener.open(request, timeout=TIMEOUT) as answer:
                    return take(answer)
            except urllib.error.HTTPError as error:
                error.close()
                reason, again = "the server answers %d %s" % (error.code, http.client.responses.get(error.code, "")), error.code in PASSING
                wish = error.headers.get("Retry-After", "")
                if re.fullmatch("[0-9]{1,6}", wish):
                    again, pause = again and int(wish) <= LONGEST, max(pause, int(wish))
            except ServerError as error:
                reason, again = error, False
            except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
                cause = getattr(error, "reason", error)
                reason = "no complete answer within %d s" % TIMEOUT if isinstance(cause, socket.timeout) else cause
                again = True
            if not again or attempt == ATTEMPTS:
                raise ServerError("%s: %s%s" % (name, "after %d attempts: " % attempt if attempt > 1 else "", _printable(reason))) from None
            time.sleep(pause)

    def manifest(self) -> bytes:
        """The bytes of the manifest."""
        def take(answer: Any) -> bytes:
            _check_plain(answer)
            data = _read(answer, MOST_MANIFEST + 1)
            _want(len(data) <= MOST_MANIFEST, "the manifest is too long")
            return data
        return self.ask(self.manifest_name, take, {})

    def open(self, entry: Entry) -> "File":
        """Opens the file of a layer."""
        return RemoteFile(self, self.base + entry.file, entry.bytes)

    def close(self) -> None:
        self.pool.shutdown()


class RemoteFile:
    """A file on a server."""

    def __init__(self, server: Server, name: str, size: int) -> None:
        self.server, self.name, self.size = server, name, size
        self.validators: Optional[Tuple[str, str]] = None  # ETag and Last-Modified of the first answer
        self.head = b""
        self.head = self.read(0, min(size, HEAD))

    @property
    def unsure(self) -> bool:
        """Whether another file may have the same validators."""
        return self.size > HEAD and not (self.validators and _is_strong(self.validators[0]))

    def read(self, offset: int, length: int) -> bytes:
        """Bytes of the file."""
        if offset + length <= len(self.head):
            return self.head[offset:offset + length]
        if length == 0:
            return b""
        headers = {"Range": "bytes=%d-%d" % (offset, offset + length - 1)}
        if self.validators is not None and _is_strong(self.validators[0]):
            headers["If-Range"] = self.validators[0]
        return self.server.ask(self.name, lambda answer: self._take(answer, offset, length), headers)

    def read_many(self, spans: Sequence[Span]) -> List[bytes]:
        """Bytes at several places, in their order; they are asked for at the same time."""
        if len(spans) == 1:
            return [self.read(*spans[0])]
        return list(self.server.pool.map(lambda span: self.read(*span), spans))

    def _take(self, answer: Any, offset: int, length: int) -> bytes:
        _check_plain(answer)
        found = answer.headers.get("ETag", ""), answer.headers.get("Last-Modified", "")
        _want(any(found) or self.size <= HEAD, "the server sends neither ETag nor Last-Modified, so a replaced file would go unnoticed")
        if answer.status == 206:
            said = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", answer.headers.get("Content-Range", ""), re.IGNORECASE | re.ASCII)
            if said is None:
                raise ServerError("the answer does not say which bytes it has")
            first, last, total = map(int, said.groups())
            if total != self.size:
                raise ServerError("the file has %d bytes, the manifest says %d: it was replaced, open the directory again" % (total, self.size))
            _want((first, last) == (offset, offset + length - 1), "the answer has other bytes than those asked for")
        else:
            _want(answer.status == 200, "the server answers %d" % answer.status)
            _want(self.validators is None or self.validators == found, "the file was replaced since it was opened: open the directory again")
            _want(offset == 0 and length == self.size, "the server ignores range requests (HTTP header Range) and sends whole files; "
                  "take one that answers them, such as nginx or caddy (python3 -m http.server does not)")
        if self.validators is None:
            self.validators = found
        _want(self._same(found), "the file was replaced since it was opened: open the directory again")
        data = _read(answer, length)
        _want(len(data) == length, "the answer is shorter than it says")
        _want(answer.status == 206 or not answer.read(1), "the file is longer than the manifest says")
        return data

    def _same(self, found: Tuple[str, str]) -> bool:
        """A weak tag may become the strong one of the same text; else nothing may change."""
        tag, date = self.validators or found
        return date == found[1] and (tag == found[0] or tag.startswith("W/") and tag[2:] == found[0])

    def close(self) -> None:
        pass


File = Union[LocalFile, RemoteFile]


def _want(ok: object, what: str) -> None:
    if not ok:
        raise ServerError(what)


def _read(answer: Any, most: int) -> bytes:
    """The body of an answer, of which no more than so many bytes are read."""
    data: bytes = answer.read(most)
    if len(data) < most and answer.length:
        raise http.client.IncompleteRead(data, answer.length)
    return data


def _check_plain(answer: Any) -> None:
    encoding = answer.headers.get("Content-Encoding", "identity")
    _want(encoding == "identity", "the server compresses its answer (%s), which was not asked for" % _printable(encoding))


def _is_strong(tag: str) -> bool:
    return re.fullmatch(r'"[\x21\x23-\x7e\x80-\xff]*"', tag) is not None


def _printable(what: object) -> str:
    text = "".join(c if c.isprintable() else "\\x%02x" % ord(c) for c in str(what))
    return text if len(text) <= 500 else text[:500] + "..."
