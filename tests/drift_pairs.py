"""The small pair set of notebook 01: five files of an invented shop, and what happened to each; `python tests/drift_pairs.py` writes it.

Every text here was written for memkit. What really changed is not typed in: `drift_truth.label` parses both versions with parsers that
memkit's locators do not use.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from memkit.lab.drift_truth import label

DATA = Path(__file__).resolve().parents[1] / "data" / "drift" / "pairs.jsonl"

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "shop-checkout"
version = "2.3.1"
requires-python = ">=3.11"
dependencies = [
    "httpx>=0.27",
    "pydantic>=2.6",
    "redis>=5.0",
]

[project.scripts]
shop-worker = "shop.worker:main"

[tool.pytest.ini_options]
addopts = "-q"
testpaths = ["tests"]

[tool.ruff]
line-length = 100
"""

SETUP = """\
# Settings of the workers. One section a service.
[server]
host = 0.0.0.0
port = 8080
timeout = 30

[client]
timeout = 10
retries = 3

[queue]
name = orders
tasks =
    pay
    ship
    notify
"""

SERVICE = """\
# How the checkout is deployed.
name: checkout
replicas: 3
image:
  repository: shop/checkout
  tag: "2.3.1"
limits:
  memory: 512Mi
  cpu: 500m
probes:
  - path: /healthz
    period: 10
  - path: /readyz
    period: 5
"""

CHECKOUT = '''\
"""What a basket costs."""

FREE_SHIPPING_FROM = 4_900  # in cents
SHIPPING = 490


def shipping(subtotal):
    """Return what delivery costs, in cents."""
    return 0 if subtotal >= FREE_SHIPPING_FROM else SHIPPING


def total(prices, discount=0):
    """Return what the customer pays, in cents."""
    subtotal = sum(prices)
    return max(0, subtotal - discount) + shipping(subtotal)


class Basket:
    """Prices, one after another."""

    def __init__(self):
        self.prices = []

    def add(self, price):
        """Put one price in."""
        self.prices.append(price)

    def pay(self, discount=0):
        """Return what is to be paid."""
        return total(self.prices, discount)
'''

GUIDE = """\
# On duty

What to do when nobody else is awake.

## Deploy

Deployments go out on Tuesday and Thursday before noon, never on a Friday.
The release manager of the week says yes first.

## When payments are slow

A call to the provider waits 30 seconds and is tried again three times.
After that the order is kept as unpaid.

### Whom to call

First the backup channel, then the person on duty.

## 值班

支付接口连续失败三次，先切换到备用通道，再通知值班同事。
"""

Edit = tuple[str, str, list[tuple[str, str]]]
"""Group, what happened in words, and what is replaced by what."""

PIECES = {"pyproject.toml": ">=3.11", "setup.cfg": "30", "service.yaml": "512Mi", "checkout.py": "4_900", "guide.md": "waits 30 seconds"}

FILES: dict[str, tuple[str, list[Edit]]] = {
    "pyproject.toml": (
        PYPROJECT,
        [
            ("harmless", "a comment is added at the top", [("[build-system]", "# Reviewed in March.\n[build-system]")]),
            ("harmless", "quotes and blanks are written anew", [('requires-python = ">=3.11"', "requires-python   = '>=3.11'")]),
            ("harmless", "the list of dependencies is put on one line", [
                ('[\n    "httpx>=0.27",\n    "pydantic>=2.6",\n    "redis>=5.0",\n]', '["httpx>=0.27", "pydantic>=2.6", "redis>=5.0"]')]),
            ("moving", "the pytest table moves to the top", [
                ('[tool.pytest.ini_options]\naddopts = "-q"\ntestpaths = ["tests"]\n\n', ""),
                ("[build-system]", '[tool.pytest.ini_options]\naddopts = "-q"\ntestpaths = ["tests"]\n\n[build-system]')]),
            ("moving", "a dependency is added before the others", [('    "httpx', '    "attrs>=23.2",\n    "httpx')]),
            ("changing", "Python 3.12 becomes the least", [('">=3.11"', '">=3.12"')]),
            ("changing", "a dependency is raised, deep in the list", [("redis>=5.0", "redis>=5.2")]),
            ("deleting", "the scripts are removed", [('[project.scripts]\nshop-worker = "shop.worker:main"\n\n', "")]),
            ("commit", "Release 2.4.0, drop Python 3.11", [
                ("2.3.1", "2.4.0"), ('">=3.11"', '">=3.12"'), ('"pydantic>=2.6"', '"pydantic>=2.8"'),
                ("line-length = 100", 'line-length = 100\ntarget-version = "py312"')]),
        ],
    ),
    "setup.cfg": (
        SETUP,
        [
            ("harmless", "the comment at the top is reworded", [("# Settings of the workers.", "# The workers, and how long they wait.")]),
            ("harmless", "blanks around the equals signs go", [(" = ", "=")]),
            ("changing", "the server gets another port", [("port = 8080", "port = 9090")]),
            ("moving", "the client is described first", [
                ("[client]\ntimeout = 10\nretries = 3\n\n", ""), ("[server]", "[client]\ntimeout = 10\nretries = 3\n\n[server]")]),
            ("changing", "the two timeouts are exchanged", [
                ("timeout = 30", "timeout = ?"), ("timeout = 10", "timeout = 30"), ("timeout = ?", "timeout = 10")]),
            ("changing", "a task is added to the queue", [("    notify\n", "    notify\n    refund\n")]),
            ("deleting", "the server gets its defaults", [("port = 8080\ntimeout = 30\n", "")]),
            ("commit", "Wait longer for the provider (#214)", [
                ("# Settings", "# See docs/waiting.md.\n# Settings"), ("timeout = 30", "timeout = 45"), ("retries = 3", "retries = 2")]),
        ],
    ),
    "service.yaml": (
        SERVICE,
        [
            ("harmless", "quotes are taken off, a comment is added", [("name: checkout", "name: 'checkout'  # the service")]),
            ("harmless", "the limits are put on one line", [("\n  memory: 512Mi\n  cpu: 500m", " {memory: 512Mi, cpu: 500m}")]),
            ("moving", "the limits move to the end", [
                ("limits:\n  memory: 512Mi\n  cpu: 500m\n", ""),
                ("/readyz\n    period: 5\n", "/readyz\n    period: 5\nlimits:\n  memory: 512Mi\n  cpu: 500m\n")]),
            ("changing", "more memory", [("512Mi", "768Mi")]),
            ("changing", "the second probe is asked less often", [("period: 5", "period: 15")]),
            ("deleting", "the number of replicas is left to the cluster", [("replicas: 3\n", "")]),
            ("commit", "Deploy 2.4.0 with one more replica", [("2.3.1", "2.4.0"), ("replicas: 3", "replicas: 4")]),
        ],
    ),
    "checkout.py": (
        CHECKOUT,
        [
            ("harmless", "a comment is added inside", [
                ("    subtotal = sum(prices)", "    # discounts come later\n    subtotal = sum(prices)")]),
            ("harmless", "a formatter was here", [("def total(prices, discount=0):", "def total(\n    prices,\n    discount=0,\n):")]),
            ("moving", "shipping moves below", [
                ('def shipping(subtotal):\n    """Return what delivery costs, in cents."""\n'
                 "    return 0 if subtotal >= FREE_SHIPPING_FROM else SHIPPING\n\n\n", ""),
                ("        return total(self.prices, discount)\n", "        return total(self.prices, discount)\n\n\n"
                 'def shipping(subtotal):\n    """Return what delivery costs, in cents."""\n'
                 "    return 0 if subtotal >= FREE_SHIPPING_FROM else SHIPPING\n")]),
            ("changing", "free shipping begins earlier", [("4_900", "3_900")]),
            ("changing", "a discount may lower shipping", [("- discount) + shipping(subtotal)", "+ shipping(subtotal) - discount)")]),
            ("changing", "only the docstring changes", [
                ("Return what the customer pays, in cents.", "Return what is paid, taxes included.")]),
            ("deleting", "nothing is put in any more", [
                ('    def add(self, price):\n        """Put one price in."""\n        self.prices.append(price)\n\n', "")]),
            ("commit", "Type the basket, round nothing (#231)", [
                ("def add(self, price):", "def add(self, price: int) -> None:"), ("self.prices = []", "self.prices: list[int] = []"),
                ('"""What a basket costs."""', '"""What a basket costs, in whole cents."""')]),
        ],
    ),
    "guide.md": (
        GUIDE,
        [
            ("changing", "another section gets a sentence", [("awake.\n", "awake.\nBreathe.\n")]),
            ("moving", "the sections change places", [
                ("## 值班\n\n支付接口连续失败三次，先切换到备用通道，再通知值班同事。\n", ""),
                ("## Deploy\n", "## 值班\n\n支付接口连续失败三次，先切换到备用通道，再通知值班同事。\n\n## Deploy\n")]),
            ("harmless", "a paragraph is wrapped anew", [("seconds and is tried", "seconds\nand is tried")]),
            ("changing", "the wait grows", [("waits 30 seconds", "waits 45 seconds")]),
            ("changing", "三次改成五次", [("连续失败三次", "连续失败五次")]),
            ("deleting", "nobody is to be called", [
                ("### Whom to call\n\nFirst the backup channel, then the person on duty.\n\n", "")]),
            ("commit", "Deploy on Monday too", [
                ("on Tuesday and Thursday", "on Monday, Tuesday and Thursday"), ("# On duty", "# On call")]),
        ],
    ),
}  # fmt: skip


def edited(text: str, changes: list[tuple[str, str]]) -> str:
    """Return `text` with each old piece, which must be there, replaced."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def lines() -> Iterator[str]:
    """Yield the pair set, a line a pair."""
    for path, (before, edits) in FILES.items():
        for group, words, changes in edits:
            pair = label(path, before, edited(before, changes))
            assert pair is not None, (path, words)
            facts = [{"locator": name, "changed": changed} for name, changed in pair.facts]
            row = {
                "path": path,
                "piece": PIECES[path],
                "group": group,
                "edit": words,
                "before": before,
                "after": pair.after,
                "facts": facts,
            }
            yield json.dumps(row, ensure_ascii=False)


if __name__ == "__main__":
    DATA.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8", newline="\n")
