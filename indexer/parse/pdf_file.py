"""Opens a PDF with whatever password fits, and one that PDFium refuses after pypdf has put its structure right."""

from __future__ import annotations

import io
import logging
import unicodedata
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium_c

from indexer.datatypes import Status
from indexer.parse.model import UnreadableError

_MOST_RESCUED_BYTES = 64 << 20
_DAMAGED = "the PDF is damaged or cut off"
logging.getLogger("pypdfium2").setLevel(logging.ERROR)  # it remarks on every form for Adobe's viewer


def open_pdf(path: Path, passwords: tuple[str, ...], *, rescue: bool = True) -> Any:
    """Open a PDF with the first password that fits, none first, ready to tell what its form fields hold.

    With ``rescue`` one that PDFium refuses is put right first, which takes time.
    Raises UnreadableError with ENCRYPTED or FAILED.
    """
    for password in (None, *(variant for given in passwords for variant in _variants(given))):
        try:
            return _with_fields(pypdfium2.PdfDocument(path, password=password))
        except pypdfium2.PdfiumError as error:
            if error.err_code == pdfium_c.FPDF_ERR_PASSWORD:
                continue
            if not rescue:
                raise UnreadableError(Status.FAILED, _DAMAGED) from error
            return _with_fields(_rescued(path))
    wrong = "none of the passwords given opens it" if passwords else "give its password with --password"
    raise UnreadableError(Status.ENCRYPTED, f"it needs a password: {wrong}")


def _with_fields(pdf: Any) -> Any:
    if pdf.get_formtype() in (pdfium_c.FORMTYPE_ACRO_FORM, pdfium_c.FORMTYPE_XFA_FOREGROUND):
        pdf.init_forms()
    return pdf


def _variants(password: str) -> tuple[str, ...]:
    """A password as it was typed, and prepared as RFC 4013 asks. PDFium tries Latin-1 beside UTF-8 by itself."""
    return tuple(dict.fromkeys((password, unicodedata.normalize("NFKC", password.replace("\xad", "")))))


def _rescued(path: Path) -> Any:
    """The PDF written anew by pypdf, which puts up with more kinds of damage. Raises UnreadableError."""
    import pypdf

    if path.stat().st_size > _MOST_RESCUED_BYTES:
        raise UnreadableError(Status.FAILED, _DAMAGED)
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    target = io.BytesIO()
    try:
        writer = pypdf.PdfWriter(clone_from=pypdf.PdfReader(path, strict=False))
        writer.write(target)
        return pypdfium2.PdfDocument(target.getvalue())
    except MemoryError:
        raise
    except Exception as error:  # pypdf raises anything over what it cannot mend
        raise UnreadableError(Status.FAILED, _DAMAGED) from error
