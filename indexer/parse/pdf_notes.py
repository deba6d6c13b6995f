"""What people put onto a PDF's pages: values of form fields, free text, comments. None of it is in the page's own text.

PDFium keeps it apart as annotations (ISO 32000-1, 12.5 and 12.7). Each becomes a line of its own after the page's text.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium_c

from indexer.parse.lines import Line
from indexer.parse.pdfium import Frame, PageText

_MOST_NOTES = 5_000
_HIDDEN = 2
_PASSWORD = 1 << 13
_TYPED = (pdfium_c.FPDF_FORMFIELD_TEXTFIELD, pdfium_c.FPDF_FORMFIELD_COMBOBOX, pdfium_c.FPDF_FORMFIELD_LISTBOX)
_TICKED = (pdfium_c.FPDF_FORMFIELD_CHECKBOX, pdfium_c.FPDF_FORMFIELD_RADIOBUTTON)
_LINKS = (pdfium_c.FPDF_ANNOT_LINK, pdfium_c.FPDF_ANNOT_POPUP)
_NAME = re.compile(r"[^\W\d_][^\W\d_ -]*(?:[ _-][^\W\d_]+)*")
"""A field's name that somebody wrote to be read, unlike ``f1_02[0]``."""


@dataclass(frozen=True, slots=True)
class Note:
    """A line of text that an annotation says, and its box in points from the page's lower left corner."""

    text: str
    box: tuple[float, float, float, float]


def notes_of(page: Any) -> list[Note]:
    """What the annotations of a page say, in their order."""
    found = []
    for index in range(min(pdfium_c.FPDFPage_GetAnnotCount(page.raw), _MOST_NOTES)):
        annotation = pdfium_c.FPDFPage_GetAnnot(page.raw, index)
        if not annotation:
            continue
        try:
            if text := _said(annotation, page):
                found.append(Note(text, _box(annotation)))
        finally:
            pdfium_c.FPDFPage_CloseAnnot(annotation)
    return found


def with_notes(layout: PageText, page: Any) -> PageText:
    """A page's text followed by what its annotations say and it does not say itself."""
    text, lines, starts = layout.text, list(layout.lines), list(layout.starts)
    notes = notes_of(page)
    if not notes:
        return layout
    frame = Frame(page)
    for note in notes:
        if note.text in layout.text:
            continue
        if text and not text.endswith("\n\n"):
            text = text.rstrip("\n") + "\n\n"
        starts.append(len(text))
        lines.append(Line(note.text, 0, *note.box, shown=frame.box(note.box)))
        text += note.text + "\n\n"
    return PageText(text, tuple(lines), tuple(starts))


def _said(annotation: Any, page: Any) -> str:
    kind = pdfium_c.FPDFAnnot_GetSubtype(annotation)
    if kind in _LINKS or pdfium_c.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
        return ""
    if kind == pdfium_c.FPDF_ANNOT_WIDGET:
        return _field(annotation, page.formenv.raw) if page.formenv is not None else ""
    text = _string(pdfium_c.FPDFAnnot_GetStringValue, annotation, b"Contents")
    return text if kind == pdfium_c.FPDF_ANNOT_FREETEXT or not text else f"[{text}]"


def _field(annotation: Any, form: Any) -> str:
    """A field as ``label: value``; empty when nothing is filled in."""
    kind = pdfium_c.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in _TYPED and not pdfium_c.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        value = _string(pdfium_c.FPDFAnnot_GetFormFieldValue, form, annotation)
    elif kind in _TICKED and pdfium_c.FPDFAnnot_IsChecked(form, annotation):
        value = _string(pdfium_c.FPDFAnnot_GetFormFieldExportValue, form, annotation)
    else:
        return ""
    label = _label(annotation, form)
    return f"{label}: {value}" if label and value else value


def _label(annotation: Any, form: Any) -> str:
    """What a field is called to people, or its name where that is a word."""
    if label := _string(pdfium_c.FPDFAnnot_GetFormFieldAlternateName, form, annotation).rstrip(":"):
        return label
    name = _string(pdfium_c.FPDFAnnot_GetFormFieldName, form, annotation).rpartition(".")[2]
    return name.replace("_", " ") if len(name) > 2 and _NAME.fullmatch(name) else ""


def _string(ask: Any, *subject: Any) -> str:
    """A string as one line. PDFium hands it out as UTF-16, into a buffer of the size it asks for."""
    size = ask(*subject, None, 0)
    buffer = ctypes.create_string_buffer(max(size, 2))
    ask(*subject, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return " ".join(buffer.raw.decode("utf-16-le", "replace").rstrip("\x00").split())


def _box(annotation: Any) -> tuple[float, float, float, float]:
    rectangle = pdfium_c.FS_RECTF()
    pdfium_c.FPDFAnnot_GetRect(annotation, ctypes.byref(rectangle))
    return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top
