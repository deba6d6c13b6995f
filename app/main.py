"""The browser's entry: which pages there are and how one moves between them."""

from __future__ import annotations

import streamlit as st

from app import components, frame

st.set_page_config(page_title="longdoc", page_icon=components.ICON, layout="wide")
components.style()
st.logo(components.ICON)
page = st.navigation(frame.pages(), position="top")
frame.run(page)
