"""longdoc in the browser: a Streamlit application over the names that indexer exports."""
