"""relay-plugin-shout: answers with the prompt in capitals."""
import json

from relay.plugin.v1 import base_pb2 as base
from relay.plugin.v1 import provider_pb2 as provider
from serve import Failure

# What the plugin is and asks for. It is pinned and granted at the installation, so it is constant.
INFO = base.GetInfoResponse(
    name="shout", version="0.1.0", summary="answers with the prompt in capitals",
    kinds=[base.GetInfoResponse.KIND_PROVIDER], capabilities=base.Capabilities(concurrent=True),
    # A plugin that asks a model declares network_hosts=["api.example.com"] and
    # env=[base.GetInfoResponse.EnvVar(name="EXAMPLE_API_KEY", secret=True, purpose="asks the model")].
    config_schema_json=json.dumps({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": False,
        "properties": {"ending": {"type": "string", "description": "What each answer ends with."}},
    }, sort_keys=True).encode())

SETTINGS = {"ending": ""}


def configure(request):
    """Takes the configuration, once; relay has checked it against the schema."""
    SETTINGS.update(json.loads(request.config_json or b"{}"))


def complete(request, call):
    """Answers one request. call.cancelled is set when nobody waits for it any more."""
    # Parts of a kind that this plugin does not know are skipped.
    prompt = "".join(part.text for part in request.parts if part.WhichOneof("part") == "text")
    if not prompt:
        raise Failure("BAD_REQUEST", "the prompt is empty", fix="pass a prompt")
    answer = prompt.upper() + SETTINGS["ending"]
    call.text(answer)
    return provider.CompleteDone(text=answer, stop_reason="end")
