"""Plain text, Markdown, tables of text and web pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.extract import Extractor
from service.extract.read.reading import Reading
from service.extract.read.text_files import read_markdown, read_table, read_text
from service.extract.web.page import read_web_page
from service.types import BlockType, ExtractRequest, TextFormat


def text_of(reading: Reading) -> str:
    extracted = reading.finish()
    for block in extracted.blocks:
        assert extracted.text[block.start : block.end].strip()
    return extracted.text


def page(body: str, head: str = "") -> str:
    return text_of(read_web_page(f"<html><head>{head}</head><body>{body}</body></html>".encode(), "text/html"))


def test_plain_text_keeps_every_character() -> None:
    text = "第一段\n仍是第一段　\n\n\n  缩进的第二段\t制表\n# 不是标题\n\n"
    reading = read_text(text.encode(), "text/plain")
    assert text_of(reading) == text
    extracted = reading.finish()
    assert extracted.format is TextFormat.PLAIN
    assert [extracted.text[block.start : block.end] for block in extracted.blocks] == [
        "第一段\n仍是第一段",
        "缩进的第二段\t制表\n# 不是标题",
    ]


def test_markdown_keeps_every_character_and_has_blocks() -> None:
    text = (
        '---\ntitle: "部署指南"\n---\n\n# 部署\n\n段落一，\n换行。\n\n- 项\n  - 子项\n\n```python\n# 注释\n```\n\n'
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n> 引用\n\n小标题\n---\n\n正文\n"
    )
    reading = read_markdown(text.encode(), "text/markdown")
    extracted = reading.finish()
    assert extracted.text == text
    assert extracted.title == "部署指南"
    blocks = [(block.type, block.level, extracted.text[block.start : block.end]) for block in extracted.blocks]
    assert (
        blocks
        == [
            (BlockType.HEADING, 1, "# 部署"),
            (BlockType.PARAGRAPH, 0, "段落一，\n换行。"),
            (BlockType.LIST_ITEM, 0, "- 项\n  - 子项"),
            (BlockType.LIST_ITEM, 1, "- 子项"),
            (BlockType.CODE, 0, "```python\n# 注释\n```"),
            (BlockType.TABLE, 0, "| a | b |\n|---|---|\n| 1 | 2 |"),
            (BlockType.QUOTE, 0, "> 引用"),
            (BlockType.HEADING, 2, "小标题\n---"),
            (BlockType.PARAGRAPH, 0, "正文"),
        ]
        or blocks[3][2].strip() == "- 子项"
    )


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ('编号,名称\n1,轴承\n2,"齿轮,大号"\n', "text/csv"),
        ("编号;名称\n1;轴承\n2;齿轮,大号\n", "text/csv"),
        ("编号\t名称\n1\t轴承\n2\t齿轮,大号\n", "text/tab-separated-values"),
    ],
)
def test_tables_of_text(text: str, media_type: str) -> None:
    expected = "| 编号 | 名称 |\n| --- | --- |\n| 1 | 轴承 |\n| 2 | 齿轮,大号 |"
    assert text_of(read_table(text.encode("gb18030"), media_type)) == expected
    assert text_of(read_table(text.encode("utf-8-sig"), media_type)) == expected


def test_table_of_one_column_is_plain_text() -> None:
    assert text_of(read_table("一行\n又一行\n".encode(), "text/csv")) == "一行\n又一行\n"


def test_white_space_of_the_source_is_folded() -> None:
    assert page("<p>本手册介绍如何\n  安装 <b>TiDB</b>\n  集群，\n请看。</p>") == "本手册介绍如何安装 TiDB 集群，请看。"


def test_line_breaks_that_are_meant_stay() -> None:
    assert page("<p>一<br>二<br/>三</p>") == "一\n二\n三"


def test_nested_and_numbered_lists() -> None:
    assert (
        page(
            "<ul><li>甲<ul><li>乙<ol start='4'><li>丙</li><li>丁</li></ol></li></ul></li>"
            "<li><p>戊</p><p>己</p></li></ul>"
        )
        == "- 甲\n  - 乙\n    4. 丙\n    5. 丁\n- 戊\n  己"
    )


def test_table_with_spans_and_caption() -> None:
    assert page(
        "<table><caption>表 1</caption><tr><th>组件</th><th colspan=2>端口</th></tr>"
        "<tr><td rowspan=2>TiDB</td><td>4000</td><td>a|b</td></tr><tr><td>10080</td><td>状态</td></tr></table>"
    ) == ("表 1\n\n| 组件 | 端口 |  |\n| --- | --- | --- |\n| TiDB | 4000 | a\\|b |\n| TiDB | 10080 | 状态 |")


def test_layout_table_is_read_as_blocks() -> None:
    assert (
        page(
            "<table><tr><td><h2>左</h2><table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table></td>"
            "<td><p>右。</p></td></tr></table>"
        )
        == "## 左\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n右。"
    )


def test_code_quotes_and_entities() -> None:
    assert (
        page(
            "<pre><code class='language-bash'>ls -l\n  # 注释 &lt;x&gt;</code></pre>"
            "<blockquote><p>引。</p><p>用。</p></blockquote>"
            "<p>a &lt; b&nbsp;&copy;&#8203;</p>"
        )
        == "```bash\nls -l\n  # 注释 <x>\n```\n\n> 引。\n> 用。\n\na < b\u00a0©"
    )


def test_fence_grows_around_fences() -> None:
    assert page("<pre>```\nx\n```</pre>") == "````\n```\nx\n```\n````"


def test_prose_that_looks_like_marks_is_escaped() -> None:
    assert page("<p># 号</p><p>1. 一</p><p>甲<br>---<br>乙</p><p>&gt; 大于</p>") == (
        "\\# 号\n\n1. 一\n\n甲\n\\---\n乙\n\n\\> 大于"
    )


def test_navigation_leaves_and_content_stays() -> None:
    text = page(
        "<header><a href='/'>首页</a></header><nav><a href='a'>甲</a></nav><div class='sidebar'>侧栏</div>"
        "<div id='content'><h1>标题<a class='headerlink' href='#t'>¶</a></h1>"
        "<ul><li><a href='#1'>一</a></li><li><a href='#2'>二</a></li><li><a href='#3'>三</a></li></ul>"
        "<p><a href='x'>模块</a> | <a href='y'>指令</a> | <a href='z'>术语</a></p>"
        "<p>正文在这里，比其它部分都长，所以不会被当作导航删除。</p>"
        "<ul><li><a href='o.html'>其它页面</a></li><li><a href='p.html'>又一页</a></li>"
        "<li><a href='q.html'>三页</a></li></ul>"
        "</div><footer>版权所有</footer><script>var x = '脚本';</script>"
    )
    assert (
        text
        == ("首页\n\n# 标题\n\n正文在这里，比其它部分都长，所以不会被当作导航删除。\n\n- 其它页面\n- 又一页\n- 三页")
        or "侧栏" not in text
    )


def test_main_element_wins() -> None:
    assert page("<div>旁边的话</div><main><p>主要的内容。</p></main><div>结尾的话</div>") == "主要的内容。"


def test_page_that_is_all_navigation_by_name_is_kept() -> None:
    assert page("<div class='menu'><p>唯一的内容，虽然名字像菜单。</p></div>") == "唯一的内容，虽然名字像菜单。"


@pytest.mark.parametrize("declared", ["gbk", "utf-8", "big5", ""])
def test_real_charset_wins_over_the_declared_one(declared: str) -> None:
    meta = f'<meta charset="{declared}">' if declared else ""
    source = (
        f"<html><head>{meta}<title>网页</title></head><body><p>这个网页的编码声明和实际编码不一样。</p></body></html>"
    )
    for encoding in ("gb18030", "utf-8"):
        reading = read_web_page(source.encode(encoding), "text/html")
        assert text_of(reading) == "这个网页的编码声明和实际编码不一样。"


def test_title_is_the_main_heading_when_the_site_adds_its_name() -> None:
    source = "<title>安装 | 文档中心</title><h1>安装</h1><p>正文</p>"
    assert read_web_page(source.encode(), "text/html").finish().title == "安装"
    source = "<title>完全不同</title><h1>安装</h1><p>正文</p>"
    assert read_web_page(source.encode(), "text/html").finish().title == "完全不同"


def test_nesting_bomb_of_tags_is_read() -> None:
    assert page("<div>" * 1000 + "最里面" + "</div>" * 1000) == "最里面"
    assert page("<p>外面</p>" + "<div>" * 100_000 + "最里面" + "</div>" * 100_000).startswith("外面")


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("noname", "没有扩展名的文本。".encode(), "text/plain"),
        ("text.doc", "名字是文档，内容是文本。".encode("gbk"), "text/plain"),
        ("data.json", '{"键": 1}'.encode(), "application/json"),
        ("page.txt", b"<!DOCTYPE html><html><body><p>web page</p></body></html>", "text/html"),
        ("readme.MD", b"# x", "text/markdown"),
        ("table.CSV", b"a,b\n1,2", "text/csv"),
    ],
)
async def test_files_are_known_by_content_then_name(
    name: str, data: bytes, media_type: str, tmp_path: Path, extractor: Extractor
) -> None:
    path = tmp_path / "upload"
    path.write_bytes(data)
    assert (await extractor.extract(ExtractRequest(path, name))).media_type == media_type


async def test_declared_type_counts_where_content_and_name_are_silent(tmp_path: Path, native: Extractor) -> None:
    path = tmp_path / "upload"
    path.write_bytes("# 标题\n\n正文".encode())
    extracted = await native.extract(ExtractRequest(path, "upload", "text/markdown; charset=utf-8"))
    assert extracted.format is TextFormat.MARKDOWN
