"""Tests of plugin.py alone; relay plugin test tries the whole program."""
import unittest

import plugin
import serve
from relay.plugin.v1 import provider_pb2 as provider


class Complete(unittest.TestCase):
    def ask(self, prompt):
        return plugin.complete(provider.CompleteRequest(parts=[provider.Part(text=prompt)]), serve.Call(serve.PROVIDER))

    def test_answers(self):
        self.assertEqual(self.ask("hello").text, "HELLO")

    def test_unknown_parts_are_skipped(self):
        request = provider.CompleteRequest(parts=[provider.Part(), provider.Part(text="a")])
        self.assertEqual(plugin.complete(request, serve.Call(serve.PROVIDER)).text, "A")

    def test_empty_prompt(self):
        with self.assertRaises(serve.Failure):
            self.ask("")
