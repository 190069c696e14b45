"""Tests of plugin.py alone; relay plugin test tries the whole program."""
import os
import tempfile
import unittest

import plugin
import serve
from relay.plugin.v1 import builder_pb2 as builder


class Build(unittest.TestCase):
    def ask(self, prompt, workspace="."):
        return plugin.build(builder.BuildRequest(prompt=prompt, workspace=workspace), serve.Call(serve.BUILDER))

    def test_writes(self):
        with tempfile.TemporaryDirectory() as workspace:
            self.assertIn(b"NOTES.txt", self.ask("hello", workspace).result_json)
            with open(os.path.join(workspace, "NOTES.txt")) as written:
                self.assertEqual(written.read(), "hello\n")

    def test_empty_prompt(self):
        with self.assertRaises(serve.Failure):
            self.ask("")
