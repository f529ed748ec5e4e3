"""The frame of every page: one HTML file with its style and scripts inside, which needs no network.

Its policy allows exactly the texts that it holds, see :mod:`klapper.report.policy`.
"""

from html import escape
from string import Template

from klapper.report.policy import content_policy

_FRAME = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title · klapper</title>
<style>$style</style>
</head>
<body>
<main>
<div class="kicker">klapper · $kicker</div>
<h1>$title</h1>
$main</main>
$behind</body>
</html>
""")


def document(title: str, kicker: str, main: str, *, style: str, data: str = "", script: str = "") -> str:
    """The text of a page; ``kicker`` and ``main`` are HTML.

    ``data``    as text of a script, which the ``script`` reads from the element "data"; empty: the page is still
    """
    behind = ""
    if script:
        behind = f'<script type="application/json" id="data">{data}</script>\n<script>{script}</script>\n'
    policy = content_policy(scripts=[script] if script else [], styles=[style])
    return _FRAME.substitute(
        policy=escape(policy), title=escape(title), kicker=kicker, style=style, main=main, behind=behind
    )
