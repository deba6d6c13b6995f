"""Every sentence of the interface, in English and Chinese, in one place."""

from __future__ import annotations

from enum import StrEnum


class Language(StrEnum):
    """A language the interface speaks."""

    ENGLISH = "en"
    CHINESE = "zh"

    @property
    def own_name(self) -> str:
        """What the language calls itself."""
        return {"en": "English", "zh": "中文"}[self.value]

    @classmethod
    def best_for(cls, locale: str | None) -> Language:
        """The language for a browser's locale; English where none fits."""
        return cls.CHINESE if (locale or "").lower().startswith("zh") else cls.ENGLISH


def text(key: str, language: Language, **values: object) -> str:
    """The sentence ``key`` in ``language`` with ``values`` filled in; KeyError when there is no such sentence."""
    english, chinese = TEXTS[key]
    return (chinese if language is Language.CHINESE else english).format(**values)


TEXTS: dict[str, tuple[str, str]] = {
    # navigation and frame
    "nav.search": ("Search", "搜索"),
    "nav.document": ("Document", "文档"),
    "nav.library": ("Library", "文库"),
    "nav.duplicates": ("Duplicates", "近似重复"),
    "nav.map": ("Map", "主题地图"),
    "nav.health": ("Health", "状态"),
    "frame.language": ("Language", "语言"),
    "frame.sign_out": ("Sign out", "退出登录"),
    "frame.private": ("Everything stays on this machine.", "一切都留在这台机器上。"),
    # signing in
    "login.title": ("Sign in · longdoc", "登录 · longdoc"),
    "login.lead": ("Sign in to search this library.", "请登录后搜索此文库。"),
    "login.password": ("Password", "密码"),
    "login.button": ("Sign in", "登录"),
    "login.wrong": ("That is not the password.", "密码不正确。"),
    "login.wait": (
        "Too many wrong passwords. Try again in {seconds} seconds.",
        "密码错误次数过多，请在 {seconds} 秒后再试。",
    ),
    # search
    "search.title": ("What are you looking for?", "想查找什么？"),
    "search.ready": (
        "{count} documents are ready. Ask in your own words, in any language, or type an exact term.",
        "{count} 篇文档可供搜索。用自己的话提问，语言不限，也可输入确切的词语。",
    ),
    "search.box": ("Search your documents", "搜索文档"),
    "search.placeholder": ("Ask in your own words, or type an exact term", "用自己的话提问，或输入确切的词语"),
    "search.recent": ("Last searches", "最近的搜索"),
    "search.forget": ("Forget", "清除"),
    "search.mode": ("Search by", "搜索方式"),
    "mode.hybrid": ("Meaning and words", "含义与词语"),
    "mode.dense": ("Meaning", "含义"),
    "mode.lexical": ("Words", "词语"),
    "search.order": ("Order", "排序"),
    "order.best": ("Best match first", "最相关在前"),
    "order.newest": ("Newest first", "最新在前"),
    "order.oldest": ("Oldest first", "最早在前"),
    "order.title": ("By title", "按标题"),
    "search.found": ("{count} documents, {seconds} s", "{count} 篇文档，{seconds} 秒"),
    "search.found_most": ("The best {count} documents, {seconds} s", "最相关的 {count} 篇文档，{seconds} 秒"),
    "search.found_one": ("1 document, {seconds} s", "1 篇文档，{seconds} 秒"),
    "search.nothing": ("Nothing was found for “{query}”", "没有找到与“{query}”相关的内容"),
    "search.nothing_help": (
        "Try fewer or other words, search by meaning instead of words, or take filters away.",
        "请减少或换用词语，改为按含义搜索，或去掉筛选条件。",
    ),
    "search.page": ("page {page}", "第 {page} 页"),
    "search.open": ("Open at this place", "打开此处"),
    "search.by_meaning": ("Found by meaning", "因含义相近"),
    "search.by_words": ("Found by its words", "因词语匹配"),
    "search.by_both": ("Found by meaning and words", "因含义与词语"),
    "search.more_like": ("Similar", "相似内容"),
    "search.more_like_help": ("Search for what resembles this place", "查找与此处相似的内容"),
    "search.more": ("More of this", "多些此类"),
    "search.more_help": ("Search again, closer to this", "重新搜索，更接近此处"),
    "search.less": ("Less of this", "少些此类"),
    "search.less_help": ("Search again, away from this", "重新搜索，远离此处"),
    "search.others": ("{count} more places in this document", "此文档中另有 {count} 处"),
    "search.others_one": ("1 more place in this document", "此文档中另有 1 处"),
    "search.copies": ("The same text is also in: {titles}", "同样的内容还见于：{titles}"),
    "search.download": ("Download", "下载"),
    "search.like_chunk": ("Similar to a place you chose", "与所选之处相似"),
    "search.like_document": ("Similar to a document you chose", "与所选文档相似"),
    "search.only": ("Only {count} chosen documents", "仅限所选的 {count} 篇文档"),
    "search.more_chosen": ("More of {count} places", "接近所选的 {count} 处"),
    "search.less_chosen": ("Less of {count} places", "远离所选的 {count} 处"),
    "search.take_away": ("Take this away", "去掉此项"),
    "filter.title": ("Filters", "筛选"),
    "filter.any": ("Any", "不限"),
    "filter.type": ("Type", "类型"),
    "filter.language": ("Language", "语言"),
    "filter.tag": ("Tag", "标签"),
    "filter.status": ("Status", "状态"),
    "filter.source": ("Folder", "文件夹"),
    "filter.after": ("From", "起始日期"),
    "filter.before": ("Until", "截止日期"),
    "pager.previous": ("Previous", "上一页"),
    "pager.next": ("Next", "下一页"),
    "pager.where": ("Page {page} of {pages}", "第 {page} 页，共 {pages} 页"),
    # a document
    "document.back": ("Back to the results", "返回结果"),
    "document.pages": ("{count} pages", "共 {count} 页"),
    "document.search": ("Search in this document", "在此文档中搜索"),
    "document.places": ("{count} places", "{count} 处匹配"),
    "document.no_places": ("Nothing in this document matches.", "此文档中没有匹配之处。"),
    "document.strip": ("Where the document matches", "匹配位置分布"),
    "document.outline": ("Contents", "目录"),
    "document.similar": ("Similar documents", "相似文档"),
    "document.similar_all": ("All similar documents", "全部相似文档"),
    "document.ledger": ("What was read", "读取情况"),
    "document.download": ("Download the file", "下载文件"),
    "document.gone": (
        "The file is no longer where it was read; its text is kept here.",
        "原文件已不在读取时的位置，此处保留其文字。",
    ),
    "document.page": ("Page", "页"),
    "document.part": ("Part", "部分"),
    "document.of_pages": ("of {count} pages", "/ {count} 页"),
    "document.of_parts": ("of {count} parts", "/ {count} 部分"),
    "document.previous": ("Previous", "上一页"),
    "document.next": ("Next", "下一页"),
    "document.view": ("Show as", "显示方式"),
    "document.as_page": ("Page", "页面"),
    "document.as_text": ("Text", "文字"),
    "document.zoom": ("Size", "大小"),
    "document.picture": ("Page {page} of {title}", "{title} 第 {page} 页"),
    "document.unread_page": ("This page could not be read: {reason}", "此页无法读取：{reason}"),
    "document.no_text_here": ("There is no text on this page.", "此页没有文字。"),
    "document.no_text": ("This document has no text that could be read", "此文档没有可读的文字"),
    "document.no_text_why": ("What was tried is listed under “What was read”.", "详情见“读取情况”。"),
    "document.none": ("Choose a document first", "请先选择文档"),
    "document.none_why": (
        "Open one from the results of a search or from the library.",
        "请从搜索结果或文库中打开一篇文档。",
    ),
    "ledger.status": ("Status", "状态"),
    "ledger.reason": ("Reason", "原因"),
    "ledger.coverage": ("Read", "已读取"),
    "ledger.share": ("{share} % of the text", "全文的 {share}%"),
    "ledger.unread": ("Pages not read", "未读取的页"),
    "ledger.size": ("Size", "篇幅"),
    "ledger.sizes": ("{chars} characters in {chunks} chunks", "{chars} 字符，{chunks} 块"),
    "ledger.added": ("Added", "添加时间"),
    "ledger.tags": ("Tags", "标签"),
    "ledger.remarks": ("Remarks", "备注"),
    "ledger.paths": ("Where it lies", "所在位置"),
    # what documents are
    "status.indexed": ("Searchable", "可搜索"),
    "status.partial": ("Partly readable", "部分可读"),
    "status.needs_ocr": ("Scan without text", "扫描件，无文字"),
    "status.encrypted": ("Needs a password", "需要密码"),
    "status.unsupported": ("Not a readable type", "类型不支持"),
    "status.empty": ("No text in it", "没有文字"),
    "status.failed": ("Could not be read", "读取失败"),
    "status.too_large": ("Too large", "过大"),
    "status.timed_out": ("Took too long", "超时"),
    "status.unchanged": ("Unchanged", "未变"),
    "status.removed": ("Removed", "已移除"),
    "type.application/pdf": ("PDF", "PDF"),
    "type.text/html": ("Web page", "网页"),
    "type.text/plain": ("Text", "文本"),
    "type.text/markdown": ("Markdown", "Markdown"),
    "language.en": ("English", "英文"),
    "language.zh": ("Chinese", "中文"),
    "language.de": ("German", "德文"),
    "language.fr": ("French", "法文"),
    "language.es": ("Spanish", "西班牙文"),
    "language.ja": ("Japanese", "日文"),
    "language.ko": ("Korean", "韩文"),
    "language.und": ("Unknown", "未知"),
    "empty.title": ("Your library is empty", "文库还是空的"),
    "empty.lead": (
        "Add a folder of documents, and search it by meaning: ask a question in your own words and land on the page "
        "that answers it. Nothing leaves this machine.",
        "添加一个文档文件夹，就可以按含义搜索：用自己的话提问，直接翻到有答案的那一页。所有内容都不会离开这台机器。",
    ),
    "empty.how": ("In a terminal, name the folder once:", "在终端里运行一次："),
    "empty.sync": (
        "`longdoc sync` later reads what is new or changed. PDF, text, Markdown and web pages are read, in English, "
        "Chinese and a hundred other languages.",
        "以后运行 `longdoc sync` 即可读入新增或改动的文件。支持 PDF、文本、Markdown 与网页，中文、英文等一百多种语言。",
    ),
    # problems
    "problem.title": ("This cannot be shown just now", "暂时无法显示"),
    "problem.unexpected": (
        "Something went wrong that should not have. The details are in the terminal where longdoc ui runs.",
        "出现了意外的错误，详情见运行 longdoc ui 的终端。",
    ),
}
