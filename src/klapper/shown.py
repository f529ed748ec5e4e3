"""How results show themselves: one line in a console, a card with a small figure in a notebook.

A class that inherits from :class:`Shown` has a compact ``repr``, the first line of its ``str``, and an HTML form for
Jupyter. Figures that klapper makes are a :class:`Drawing`, which a notebook shows without any magic words.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Any

_SIZE = 6.0, 2.8  # inches of the small figure of a card, as wide as a column of text
_DOTS = 100  # per inch: sharp enough on a screen, some 30 kB
_LINES = 40  # of a text in a card; the rest is counted


@dataclass(frozen=True)
class Card:
    """What a notebook shows: a ``title``, one sentence, rows of name and value or a text, and a small figure.

    ``draw`` draws on the figure that it is given.
    """

    title: str
    sentence: str = ""
    rows: Sequence[tuple[str, str]] = ()
    text: str = ""
    draw: Callable[[Any], Any] | None = field(default=None, repr=False)

    def html(self) -> str:
        parts = [f"<div><p><strong>{escape(self.title)}</strong></p>"]
        if self.sentence:
            parts.append(f"<p>{escape(self.sentence)}</p>")
        if self.draw is not None:
            parts.append(_image(self.draw, self.title))
        if self.rows:
            cell = '<td style="text-align:left">'
            rows = "".join(f"<tr>{cell}{escape(n)}</td>{cell}{escape(v)}</td></tr>" for n, v in self.rows)
            parts.append(f"<table>{rows}</table>")
        if self.text:
            lines = self.text.splitlines()
            more = [f"… and {len(lines) - _LINES} more lines"] if len(lines) > _LINES else []
            parts.append(f"<pre>{escape(chr(10).join(lines[:_LINES] + more))}</pre>")
        return "".join([*parts, "</div>"])


class Shown:
    """Gives a class a compact ``repr`` and a card in notebooks; ``_card`` says what is on it.

    >>> class Answer(Shown):
    ...     def __str__(self):
    ...         return "the answer\\n  is 42"
    >>> Answer(), Answer()._repr_html_()
    (the answer, '<div><p><strong>the answer</strong></p><pre>  is 42</pre></div>')
    """

    def __repr__(self) -> str:
        return str(self).partition("\n")[0]

    def _card(self) -> Card:
        title, _, text = str(self).partition("\n")
        return Card(title, text=text)

    def _repr_html_(self) -> str:
        return self._card().html()


def drawing(**options: Any) -> Any:
    """A figure without global state that a notebook shows by itself; ``options`` as of matplotlib's ``Figure``."""
    return _drawing()(**{"layout": "constrained", **options})


@cache
def _drawing() -> type[Any]:
    from matplotlib.figure import Figure

    class Drawing(Figure):
        """A figure of klapper."""

        def _repr_png_(self) -> bytes:
            return _png(self, self.dpi)

        def __reduce__(self) -> Any:
            return drawing, (), self.__getstate__()

    return Drawing


def _png(figure: Any, dots: float) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=dots)
    return stream.getvalue()


def _image(draw: Callable[[Any], Any], title: str) -> str:
    figure = drawing(figsize=_SIZE)
    draw(figure)
    data = base64.b64encode(_png(figure, _DOTS)).decode()
    return (
        f'<img src="data:image/png;base64,{data}" alt="{escape(title, quote=True)}" style="max-width:100%">'
    )
