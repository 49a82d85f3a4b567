"""Extract the text of web pages, Markdown, e-mail, PDF and DOCX files.

Offsets of entities refer to the extracted text, in which blocks are separated by blank lines.
"""
