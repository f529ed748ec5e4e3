"""Formulas of the documentation as MathML: browsers set it by themselves, without scripts or fonts from anywhere.

``$…$`` and ``$$…$$`` are found by the Markdown extension ``pymdownx.arithmatex``; what it leaves is converted here.
"""

import html
import re

from latex2mathml.converter import convert

_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<text>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
_UPRIGHT = re.compile(r"<mi>&#x000([4-7][0-9A-F]);</mi>")
_PERPENDICULAR = '<mo lspace="0.28em" rspace="0.28em">&#x022A5;</mo>'
_UNKNOWN = re.compile(r"<mi>\\")


class WrongFormula(ValueError):
    """A formula that cannot be set."""


def with_mathml(content: str) -> str:
    """HTML with its formulas converted; a formula that is not understood is refused."""
    return _FORMULA.sub(_converted, content)


def _converted(found: re.Match[str]) -> str:
    text = html.unescape(found["text"]).strip().replace(r"\arg", r"\operatorname{arg}")
    block = found["tag"] == "div"
    try:
        formula = convert(text, display="block" if block else "inline")
    except Exception as error:
        raise WrongFormula(f"The formula {text} cannot be set: {error!r}") from error
    formula = _UPRIGHT.sub(r'<mi mathvariant="normal">&#x000\1;</mi>', formula)  # \mathrm{d}
    formula = formula.replace("<mi>&#x027C2;</mi>", _PERPENDICULAR)
    if unknown := _UNKNOWN.search(formula):
        raise WrongFormula(
            f"The formula {text} has a command that is not known: {formula[unknown.end() :][:20]}"
        )
    return f'<div class="formula">{formula}</div>' if block else formula
