"""One file a format. Each turns a `Source` into `Rows`; `Rows.gather` turns these into bags."""
