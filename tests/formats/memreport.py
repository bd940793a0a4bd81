"""memreport.py [NAME FILE...] <DOCUMENT - do functions and modules come back?"""
import sys
import xml.etree.ElementTree as ElementTree
from words import all_back, check

root = ElementTree.fromstring(sys.stdin.buffer.read())
check(root.tag == "MEMREPORT", root.tag)
for attribute in ("decl", "module"):
    all_back({entry.get(attribute) for entry in root.iter("STACKENTRY")}, keep="\t\n\r")
