"""Word, Excel and PowerPoint files as a person would expect to read them, from both adapters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import docx
import openpyxl
import pytest
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from service.config import ExtractSettings
from service.errors import NoText
from service.extract import Extractor, create_extractor
from service.extract.ooxml.marks import mark, read_mark, without_marks
from service.extract.ooxml.number_format import formatted
from service.types import BlockType, ExtractRequest
from tests.unit.extract.made_files import zip_bytes

_FIXTURES = Path(__file__).parents[2] / "fixtures" / "documents"


async def text_of(extractor: Extractor, path: Path) -> str:
    extracted = await extractor.extract(ExtractRequest(path, path.name))
    for block in extracted.blocks:
        assert extracted.text[block.start : block.end].strip()
    return extracted.text


async def test_headings_lists_quotes_and_tables(tmp_path: Path, extractor: Extractor) -> None:
    document = docx.Document()
    document.add_heading("设备维护手册", 0)
    document.add_heading("一、概述", 1)
    document.add_paragraph("本手册介绍设备的日常维护。")
    document.add_heading("1.1 适用范围", 2)
    for text, style in (
        ("第一项", "List Bullet"),
        ("子项甲", "List Bullet 2"),
        ("孙项", "List Bullet 3"),
        ("第二项", "List Bullet"),
        ("打开电源", "List Number"),
        ("检查指示灯", "List Number"),
        ("引用的话", "Intense Quote"),
    ):
        document.add_paragraph(text, style=style)
    table = document.add_table(rows=3, cols=3)
    for row, values in zip(
        table.rows, (("型号", "功率|W", "备注"), ("A-1", "20", "一行\n二行"), ("B-2", "", "")), strict=True
    ):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = value
    table.rows[2].cells[1].merge(table.rows[2].cells[2]).text = "合并"
    document.add_paragraph("# 不是标题")
    path = tmp_path / "manual.docx"
    document.save(str(path))
    assert await text_of(extractor, path) == (
        "# 设备维护手册\n\n# 一、概述\n\n本手册介绍设备的日常维护。\n\n## 1.1 适用范围\n\n"
        "- 第一项\n  - 子项甲\n    - 孙项\n- 第二项\n1. 打开电源\n2. 检查指示灯\n\n"
        "> 引用的话\n\n"
        "| 型号 | 功率\\|W | 备注 |\n| --- | --- | --- |\n| A-1 | 20 | 一行 二行 |\n| B-2 | 合并 |  |\n\n"
        "\\# 不是标题"
    )


def _define_list(document: Any, levels: list[tuple[str, str]], number: int) -> None:
    """Add a list definition to a Word file; ``levels`` are (number format, text)."""
    numbering = document.part.numbering_part.element
    abstract = OxmlElement("w:abstractNum")
    abstract.set(qn("w:abstractNumId"), str(900 + number))
    for index, (number_format, text) in enumerate(levels):
        level = OxmlElement("w:lvl")
        level.set(qn("w:ilvl"), str(index))
        for tag, value in (("w:start", "1"), ("w:numFmt", number_format), ("w:lvlText", text)):
            child = OxmlElement(tag)
            child.set(qn("w:val"), value)
            level.append(child)
        abstract.append(level)
    numbering.insert(0, abstract)
    listed = OxmlElement("w:num")
    listed.set(qn("w:numId"), str(number))
    reference = OxmlElement("w:abstractNumId")
    reference.set(qn("w:val"), str(900 + number))
    listed.append(reference)
    numbering.append(listed)


def _add_item(document: Any, text: str, number: int, level: int) -> None:
    paragraph = document.add_paragraph(text)
    properties = OxmlElement("w:numPr")
    for tag, value in (("w:ilvl", level), ("w:numId", number)):
        child = OxmlElement(tag)
        child.set(qn("w:val"), str(value))
        properties.append(child)
    paragraph._p.get_or_add_pPr().append(properties)


async def test_automatic_numbers_are_written_out(tmp_path: Path, extractor: Extractor) -> None:
    document = docx.Document()
    _define_list(document, [("chineseCountingThousand", "第%1条"), ("decimal", "（%2）"), ("lowerLetter", "%3)")], 77)
    for text, level in (
        ("为了规范合同行为，制定本办法。", 0),
        ("适用于下列合同：", 0),
        ("买卖合同；", 1),
        ("租赁合同：", 1),
        ("房屋；", 2),
        ("车辆。", 2),
        ("本办法自发布之日起施行。", 0),
    ):
        _add_item(document, text, 77, level)
    path = tmp_path / "rules.docx"
    document.save(str(path))
    assert await text_of(extractor, path) == (
        "第一条 为了规范合同行为，制定本办法。\n\n第二条 适用于下列合同：\n\n"
        "- （1）买卖合同；\n- （2）租赁合同：\n  - a) 房屋；\n  - b) 车辆。\n\n第三条 本办法自发布之日起施行。"
    )


async def test_table_of_contents_is_left_out(tmp_path: Path, extractor: Extractor) -> None:
    document = docx.Document()
    style = document.styles.add_style("toc 1", 1)
    document.add_paragraph("第一章 总则\t3", style=style)
    document.add_heading("第一章 总则", 1)
    document.add_paragraph("正文。")
    path = tmp_path / "toc.docx"
    document.save(str(path))
    assert await text_of(extractor, path) == "# 第一章 总则\n\n正文。"


async def test_bold_lines_are_headings_where_there_are_no_others(tmp_path: Path, extractor: Extractor) -> None:
    document = docx.Document()
    document.add_paragraph().add_run("产品介绍").bold = True
    document.add_paragraph("这是产品的介绍文字，写了很多内容。")
    document.add_paragraph("又一段介绍文字。")
    document.add_paragraph().add_run("技术规格").bold = True
    document.add_paragraph("规格的文字。")
    path = tmp_path / "bold.docx"
    document.save(str(path))
    assert (await text_of(extractor, path)).startswith("# 产品介绍\n\n这是产品")
    assert "\n\n## 技术规格\n\n" in await text_of(extractor, path)


async def test_footnote_stays_with_its_paragraph(extractor: Extractor, shared: Path) -> None:
    text = await text_of(extractor, shared / "data" / "documents" / "docx_footnotes.docx")
    assert "我的世界《中国》[^2]。哈哈\n\n[^2]: 世界地图" in text


async def test_sheets_have_names_header_rows_and_pages(tmp_path: Path, extractor: Extractor) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "产品目录"
    for row in (
        ["2024 年产品目录"],
        ["编号", "名称", "价格"],
        ["X-1", "轴承\n大号", 12.5],
        ["X-2", None, 3],
        ["注：含税"],
    ):
        sheet.append(row)
    other = book.create_sheet("库存")
    other.append(["编号", "数量"])
    other.append(["X-1", 100])
    book.create_sheet("空表")
    path = tmp_path / "book.xlsx"
    book.save(path)
    extracted = await extractor.extract(ExtractRequest(path, path.name))
    assert extracted.text == (
        "# 产品目录\n\n2024 年产品目录\n\n"
        "| 编号 | 名称 | 价格 |\n| --- | --- | --- |\n| X-1 | 轴承 大号 | 12.5 |\n| X-2 |  | 3 |\n\n注：含税\n\n"
        "# 库存\n\n| 编号 | 数量 |\n| --- | --- |\n| X-1 | 100 |"
    )
    assert [(page.number, page.label) for page in extracted.pages] == [(1, "产品目录"), (2, "库存"), (3, "空表")]
    second = extracted.pages[1]
    assert extracted.text[second.start : second.end].startswith("# 库存")
    assert extracted.title is None


async def test_slides_in_order_with_titles_bullets_and_notes(extractor: Extractor) -> None:
    extracted = await extractor.extract(ExtractRequest(_FIXTURES / "deck.pptx", "deck.pptx"))
    titles = ["年度总结", *(f"第{number}页标题" for number in range(2, 12)), "表格页"]
    assert [page.label for page in extracted.pages] == titles
    assert [
        extracted.text[block.start : block.end] for block in extracted.blocks if block.type is BlockType.HEADING
    ] == [f"## {title}" for title in titles]
    assert "## 第3页标题\n\n- 要点3甲\n  - 要点3乙\n\n> 讲到这里要停一下。" in extracted.text
    assert extracted.text.endswith("| 项目 | 金额 |\n| --- | --- |\n| 软件 | 100 |")


async def test_pdf_with_outline_headers_and_page_numbers(extractor: Extractor) -> None:
    extracted = await extractor.extract(ExtractRequest(_FIXTURES / "book.pdf", "book.pdf"))
    assert extracted.text.startswith("# 第一章 总则1\n\n## 1.1 适用范围\n\n本条例所称数据处理包括")
    assert "注意保管" not in extracted.text
    assert "共 5 页" not in extracted.text
    assert "应当遵守法律法规" in extracted.text, "a line wrap was joined"
    assert len(extracted.pages) == 5
    for number, page in enumerate(extracted.pages):
        assert extracted.text[page.start :].startswith(f"# 第{'一二三四五'[number]}章")


async def test_pdf_without_reflow_keeps_its_lines(extractor: Extractor) -> None:
    request = ExtractRequest(_FIXTURES / "book.pdf", "book.pdf", reflow=False)
    text = (await extractor.extract(request)).text
    assert text.count("某某公司内部资料") == 5
    assert "第 5 页 共 5 页" in text
    assert "应当遵守法律法规" not in text


@pytest.mark.parametrize(
    ("number", "number_format", "written"),
    [
        (1, "decimal", "1"), (3, "decimalZero", "03"), (27, "lowerLetter", "aa"), (4, "upperRoman", "IV"),
        (10, "chineseCounting", "十"), (12, "chineseCountingThousand", "十二"), (20, "chineseCounting", "二十"),
        (105, "chineseCountingThousand", "一百零五"), (110, "chineseCountingThousand", "一百一十"),
        (1024, "taiwaneseCounting", "一千零二十四"), (3, "chineseLegalSimplified", "叁"),
        (2, "ideographTraditional", "乙"), (7, "decimalEnclosedCircle", "⑦"), (5, "someFutureFormat", "5"),
    ],
)  # fmt: skip
def test_number_formats(number: int, number_format: str, written: str) -> None:
    assert formatted(number, number_format) == written


def test_marks_survive_a_round_trip() -> None:
    for block_type, level, label in (
        (BlockType.HEADING, 2, "1.1"),
        (BlockType.LIST_ITEM, 3, "-"),
        (BlockType.QUOTE, 0, ""),
    ):
        found = read_mark(mark(block_type, level, label) + "文字")
        assert found is not None
        assert (found.type, found.level) == (block_type, level)
        assert found.text.endswith("文字")
    assert read_mark("没有标记") is None
    assert without_marks(f"{mark(BlockType.LIST_ITEM, 0, '1.')}甲{mark(BlockType.LIST_ITEM, 0, '-')}乙") == "1. 甲乙"


def _ofd(path: Path, pages: list[list[tuple[float, float, str]]]) -> Path:
    """An OFD file; a page is a list of (left, top, text), each character 4 mm wide and high."""
    space = 'xmlns:ofd="http://www.ofdspec.org/2016"'
    listed = "".join(f'<ofd:Page ID="{n}" BaseLoc="Pages/Page_{n}/Content.xml"/>' for n in range(len(pages)))
    parts = {
        "OFD.xml": f"<ofd:OFD {space}><ofd:DocBody><ofd:DocInfo><ofd:Title>通知</ofd:Title></ofd:DocInfo>"
        "<ofd:DocRoot>Doc_0/Document.xml</ofd:DocRoot></ofd:DocBody></ofd:OFD>",
        "Doc_0/Document.xml": f"<ofd:Document {space}><ofd:Pages>{listed}</ofd:Pages></ofd:Document>",
    }
    for number, pieces in enumerate(pages):
        objects = "".join(
            f'<ofd:TextObject ID="1" Boundary="{left} {top} {4 * len(text)} 4"><ofd:TextCode X="0" Y="4">{text}'
            "</ofd:TextCode></ofd:TextObject>"
            for left, top, text in pieces
        )
        parts[f"Doc_0/Pages/Page_{number}/Content.xml"] = (
            f"<ofd:Page {space}><ofd:Content><ofd:Layer>{objects}</ofd:Layer></ofd:Content></ofd:Page>"
        )
    path.write_bytes(zip_bytes([(name, text.encode()) for name, text in parts.items()]))
    return path


async def test_ofd_pages(tmp_path: Path, extractor: Extractor) -> None:
    long = "公司董事会监事会及董事监事高级管理人员保证季度报告内容的真"
    first = [(20, 20, "关于放假的通知"), (20, 40, "　　" + long), (20, 50, "实准确完整。")]
    first += [(20, 60, "日期"), (60, 60, "五月一日")]
    path = _ofd(tmp_path / "a.ofd", [first, [(20, 20, "第二页的内容。")]])
    extracted = await extractor.extract(ExtractRequest(path, path.name))
    assert extracted.text == f"关于放假的通知\n\n{long}实准确完整。\n\n日期 五月一日\n\n第二页的内容。"
    assert extracted.title == "通知"
    assert len(extracted.pages) == 2
    assert extracted.media_type == "application/ofd"


async def test_ofd_without_text(tmp_path: Path, extractor: Extractor) -> None:
    path = _ofd(tmp_path / "a.ofd", [[]])
    with pytest.raises(NoText):
        await extractor.extract(ExtractRequest(path, path.name))


@pytest.mark.parametrize(
    ("switch", "is_joined", "has_header"),
    [("join_lines", False, False), ("drop_furniture", True, True), ("close_gaps", True, False)],
)
async def test_each_mending_has_its_switch(switch: str, is_joined: bool, has_header: bool) -> None:
    reader = create_extractor(ExtractSettings.model_validate({"ocr": False, "workers": 1, switch: False}))
    text = (await reader.extract(ExtractRequest(_FIXTURES / "book.pdf", "book.pdf"))).text
    await reader.close()
    assert ("应当遵守法律法规" in text) is is_joined
    assert ("某某公司内部资料" in text) is has_header
