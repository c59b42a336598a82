"""The report of a comparison: one page that needs no network and no other file."""

from mixedbag.report._writer import report_page, write_report

__all__ = ["report_page", "write_report"]
