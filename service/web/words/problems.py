"""What went wrong, or is worth knowing, by the code of an error or warning; and what a person can do about it."""

from __future__ import annotations

from typing import NamedTuple


class Told(NamedTuple):
    """One code in both languages; the advice may be empty where there is nothing to do."""

    english: str
    chinese: str
    advice: str = ""
    chinese_advice: str = ""


ERRORS: dict[str, Told] = {
    "encrypted": Told(
        "The file needs a password.",
        "文件有密码保护。",
        "Save a copy without a password, and upload that.",
        "请另存一份不带密码的文件再上传。",
    ),
    "corrupt": Told(
        "The file is damaged or cut off.",
        "文件已损坏或不完整。",
        "Open it in its own program; if that works, save it anew and upload it again.",
        "请用原来的软件打开，能打开就另存后重新上传。",
    ),
    "empty_file": Told(
        "The file is empty.",
        "文件是空的。",
        "Look whether the right file was chosen.",
        "请确认选择了正确的文件。",
    ),
    "unsupported": Told(
        "No text can be read from this type of file.",
        "无法从这种类型的文件中读取文字。",
        "Save it as PDF, Word or text, and upload that.",
        "请另存为 PDF、Word 或文本后上传。",
    ),
    "no_text": Told(
        "The file has no text: it may be a scan.",
        "文件中没有文字，可能是扫描件。",
        "Where the service runs, install Tesseract with its language data, and try again; or upload a file with text.",
        "请在服务所在的机器上安装 Tesseract 及语言数据后重试，或上传带文字层的文件。",
    ),
    "extraction_failed": Told(
        "The file could not be read.",
        "文件无法读取。",
        "Save it anew or in another format, and upload that.",
        "请另存或换一种格式后上传。",
    ),
    "extraction_timeout": Told(
        "Reading took too long.",
        "读取超时。",
        "Cut the file into smaller ones, or raise FUZI_EXTRACT__TIMEOUT_SECONDS.",
        "请把文件拆小，或调大 FUZI_EXTRACT__TIMEOUT_SECONDS。",
    ),
    "extraction_limit": Told(
        "Reading would break the limits of memory or size.",
        "读取会超出内存或大小限制。",
        "Cut the file into smaller ones; a packed file may be larger inside than it looks.",
        "请把文件拆小；压缩内容展开后可能远大于文件本身。",
    ),
    "extraction_crashed": Told(
        "The parser died on this file.",
        "解析这个文件时程序崩溃。",
        "Save it in another format; no other document is affected.",
        "请换一种格式保存；其他文档不受影响。",
    ),
    "job_abandoned": Told(
        "Workers died on this upload as often as they may try it.",
        "处理程序多次在这个文件上中断。",
        "Try again; if it happens again, upload it in another format.",
        "请重试；若仍然如此，请换一种格式上传。",
    ),
    "job_cancelled": Told(
        "It was cancelled, or a newer upload took over.",
        "任务已取消，或被更新的上传取代。",
    ),
    "wrong_job_state": Told(
        "The job has gone on meanwhile.",
        "任务状态已经变化。",
        "Look at the list again.",
        "请刷新列表查看。",
    ),
    "too_large": Told(
        "The file is too large.",
        "文件太大。",
        "Cut it into smaller ones, or raise FUZI_LIMITS__MAX_UPLOAD_MB.",
        "请拆成小文件，或调大 FUZI_LIMITS__MAX_UPLOAD_MB。",
    ),
    "invalid_input": Told("Something in this request is not allowed.", "请求内容不符合要求。"),
    "invalid_request": Told("Something in this request is not allowed.", "请求内容不符合要求。"),
    "invalid_metadata": Told("The metadata is not what is allowed.", "元数据不符合要求。"),
    "document_not_found": Told(
        "There is no such document (any more).",
        "没有这篇文档（可能已删除）。",
        "Look at the list of documents.",
        "请查看文档列表。",
    ),
    "collection_not_found": Told("There is no such collection.", "没有这个集合。"),
    "job_not_found": Told("There is no such job (any more).", "没有这个任务（可能已清理）。"),
    "not_found": Told(
        "There is nothing here.",
        "这里没有内容。",
        "Look at the address again, or begin with the documents.",
        "请检查地址，或从文档列表开始。",
    ),
    "method_not_allowed": Told(
        "This address takes no such request.",
        "这个地址不接受这样的请求。",
        "Begin with the documents.",
        "请从文档列表开始。",
    ),
    "database_unavailable": Told(
        "The database does not answer.",
        "数据库没有响应。",
        "It is tried again by itself; `fuzi doctor` says more.",
        "系统会自动重试；运行 fuzi doctor 可查看详情。",
    ),
    "not_migrated": Told(
        "The database schema is older than this version.",
        "数据库结构版本过旧。",
        "Run: fuzi migrate",
        "请运行：fuzi migrate",
    ),
    "originals_unavailable": Told(
        "The store of the original files does not answer or is full.",
        "原始文件存储没有响应或已满。",
        "Nothing was taken in. Try again later.",
        "没有写入任何内容，请稍后再试。",
    ),
    "embedder_unavailable": Told(
        "The embedding model does not answer.",
        "向量模型没有响应。",
        "It is tried again by itself; look at FUZI_EMBED__… if it stays so.",
        "系统会自动重试；若持续如此，请检查 FUZI_EMBED__…",
    ),
    "extractor_unavailable": Told("The Tika server does not answer.", "Tika 服务没有响应。"),
    "overloaded": Told(
        "More searches are asked for than this machine can answer.",
        "检索请求超出了机器的处理能力。",
        "Try again in a moment.",
        "请稍后再试。",
    ),
    "embedding_failed": Told(
        "The embedding model gave no usable answer.",
        "向量模型没有给出可用的结果。",
        "Try again; look at FUZI_EMBED__… if it stays so.",
        "请重试；若持续如此，请检查 FUZI_EMBED__…",
    ),
    "embedding_refused": Told("The embedding model refused this text.", "向量模型拒绝了这段文字。"),
    "stopping": Told("The service is being stopped.", "服务正在停止。", "Ask again in a moment.", "请稍后再试。"),
    "scope_missing": Told(
        "Your key is not for this.", "你的密钥没有这个权限。", "Log in with another key.", "请用其他密钥登录。"
    ),
    "forbidden": Told("Your key is not for this.", "你的密钥没有这个权限。"),
    "origin_refused": Told(
        "This was sent from a page of another site, and was refused.", "请求来自其他网站的页面，已被拒绝。"
    ),
    "rate_limited": Told("Too many requests for this key.", "该密钥的请求过于频繁。", "Wait a moment.", "请稍候。"),
    "internal_error": Told(
        "An error that nobody foresaw.",
        "出现了意外错误。",
        "The log has it under the number of the request.",
        "日志中可用请求编号找到它。",
    ),
}

WARNINGS: dict[str, tuple[str, str]] = {
    "page_without_text": ("this page has no text", "这一页没有文字"),
    "doubtful_text": ("the text looks damaged", "文字看起来有损坏"),
    "no_chinese_text": ("Chinese was expected, but there is none", "预期有中文，但没有找到"),
    "unreadable_characters": ("some characters have no known meaning", "部分字符无法识别"),
    "damaged_characters": ("some characters could not be decoded", "部分字符无法解码"),
    "cut_off": ("the file is damaged or cut off; some text may be missing", "文件损坏或不完整，可能缺少部分文字"),
    "ocr": ("read from page images by OCR; it may hold errors", "由 OCR 从图像识别，可能有误"),
    "nesting_limit": ("files packed too deeply were left out", "嵌套过深的内容未读取"),
    "unmapped_glyphs": ("some glyphs have no known character", "部分字形没有对应的字符"),
    "parser_warning": ("the parser noticed something", "解析时有提示"),
    "vector_unavailable": (
        "Only words were searched: the embedding model is out of reach.",
        "仅按词语检索：向量模型不可用。",
    ),
    "fts_unavailable": ("Only meaning was searched: the BM25 index failed.", "仅按语义检索：BM25 索引出错。"),
    "rerank_unavailable": ("Not reranked: the reranker did not answer.", "未重排：重排服务没有响应。"),
    "min_rerank_score_not_applied": ("The threshold of the reranker was not applied.", "没有应用重排分数阈值。"),
    "bm25_rebuilding": (
        "After a crash matches by words may be missing until the index is rebuilt.",
        "数据库崩溃后，词语索引重建完成前可能缺少部分结果。",
    ),
}


def told(column: int) -> dict[str, str]:
    """The texts of one language, 0 English and 1 Chinese, under ``error.…``, ``advice.…`` and ``warning.…``."""
    errors = {f"error.{code}": each[column] for code, each in ERRORS.items()}
    advice = {f"advice.{code}": each[2 + column] for code, each in ERRORS.items() if each.advice}
    return errors | advice | {f"warning.{code}": each[column] for code, each in WARNINGS.items()}
