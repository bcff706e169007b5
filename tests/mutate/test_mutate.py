#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of mutations fit the source, and each file of rules has some.

That their tests notice them is what `make mutate` finds out."""

import re
import unittest

import mutate

HERE = mutate.HERE
ENTRY = "= a rule\ncore/x.c unit.x\n- one\n- two\n+ three\n"


def rule_files():
    """Those that core/track.h lists."""
    text = (mutate.SOURCE / "core/track.h").read_text()
    return re.findall(r"^ \*   (\w+\.c) ", text, re.MULTILINE)


class Tables(unittest.TestCase):
    def setUp(self):
        self.mutations = mutate.read_tables()

    def test_texts_stand_once(self):
        for mutation in self.mutations:
            with self.subTest(where=mutation.where):
                text = (mutate.SOURCE / mutation.file).read_text()
                self.assertNotEqual(mutate.apply(mutation, text), text)

    def test_tests_exist(self):
        names = {f"unit.{path.stem.removeprefix('test_')}"
                 for path in (mutate.SOURCE / "tests/unit").glob("test_*.c")}
        for mutation in self.mutations:
            with self.subTest(where=mutation.where):
                self.assertTrue([n for n in names if re.fullmatch(mutation.tests, n)])

    def test_rules_have_names_of_their_own(self):
        rules = [mutation.rule for mutation in self.mutations]
        self.assertEqual(sorted(set(rules)), sorted(rules))

    def test_every_file_of_rules_has_some(self):
        mutated = {mutation.file for mutation in self.mutations}
        files = rule_files()
        self.assertGreater(len(files), 15)
        self.assertEqual([f for f in files if f"core/{f}" not in mutated], [])


class Parsing(unittest.TestCase):
    def test_entry(self):
        (one,) = mutate.parse_table("t", f"# comment\n\n{ENTRY}")
        self.assertEqual((one.where, one.rule, one.file, one.tests, one.before, one.after),
                         ("t:3", "a rule", "core/x.c", "unit.x", "one\ntwo", "three"))

    def test_what_is_no_entry(self):
        for name, text in {
                "no tests": ENTRY.replace(" unit.x", ""),
                "nothing to find": ENTRY.replace("- one\n- two\n", ""),
                "nothing instead": ENTRY.replace("+ three\n", ""),
                "the other order": "= a\ncore/x.c unit.x\n+ one\n- two\n",
                "a line of neither": ENTRY + "four\n"}.items():
            with self.subTest(name), self.assertRaises(mutate.Bad):
                mutate.parse_table("t", text)

    def test_text_that_stands_elsewhere_as_well(self):
        (one,) = mutate.parse_table("t", ENTRY)
        self.assertEqual(mutate.apply(one, "one\ntwo\n"), "three\n")
        for text in "", "one\ntwo\none\ntwo\n":
            with self.subTest(text), self.assertRaises(mutate.Bad):
                mutate.apply(one, text)


if __name__ == "__main__":
    unittest.main()
