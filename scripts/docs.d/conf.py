# SPDX-License-Identifier: GPL-2.0-or-later
"""The manuals as HTML: scripts/docs"""

# pylint: disable=invalid-name
project = 'rvtrace'
html_title = 'rvtrace: RISC-V tracing with QEMU'
html_short_title = 'rvtrace'
html_theme = 'alabaster'
html_theme_options = {
    'page_width': '1100px',
    'sidebar_width': '230px',
    'body_max_width': 'none',
    'fixed_sidebar': True,
    'globaltoc_maxdepth': 1,
    'show_powered_by': False,
    'font_family': 'sans-serif',
    'head_font_family': 'sans-serif',
}
html_sidebars = {'**': ['searchbox.html', 'globaltoc.html', 'localtoc.html']}
html_css_files = ['docs.css']
html_static_path = ['docs.css']
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = 'bw'
# options begin with two hyphens
smartquotes = False
# of the manual as text
exclude_patterns = ['rvtrace/index.rst']
highlight_language = 'none'
