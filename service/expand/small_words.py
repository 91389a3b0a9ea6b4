"""Words of a question that say nothing about its subject: not worth a reader's eye while others are found."""

from __future__ import annotations

PARTICLES = frozenset("的了吗呢吧啊么")
"""Characters that are in hardly any other word; they end a run."""

LINKS = frozenset("是在和与或及之而于其")
"""Characters that are words, and parts of others (存在, 参与): two characters with one of them say nothing."""

_CHINESE = """
什么 怎么 怎样 怎么样 如何 多少 哪些 哪个 哪里 哪儿 哪 几 谁 为什么 为何 是否 能否 可否 有没有 是不是
应该 应当 可以 以及 或者 并且 而且 还是 关于 对于 这个 那个 这些 那些 请问 一个 会 要 有 能 这 那 就 都 也 被 把
"""
_ENGLISH = """
a an the of to in on at by for with from as and or is are was were be been do does did can could should would may
what which who whom whose when where why how this that these those it its there
"""
SMALL_WORDS = PARTICLES | LINKS | frozenset((_CHINESE + _ENGLISH).split())
