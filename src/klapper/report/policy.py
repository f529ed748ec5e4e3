"""The Content-Security-Policy of a page: the inline texts that it holds, by their digests, and nothing else."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256


def content_policy(*, scripts: Sequence[str] = (), styles: Sequence[str] = ()) -> str:
    """Directives that allow the given inline ``scripts`` and ``styles``, images inside the page, and no network."""
    directives = {
        "default-src": ["'none'"],
        "script-src": [_digest(text) for text in scripts] or ["'none'"],
        "style-src": [_digest(text) for text in styles] or ["'none'"],
        "img-src": ["data:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    return "; ".join(" ".join([name, *allowed]) for name, allowed in directives.items())


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
