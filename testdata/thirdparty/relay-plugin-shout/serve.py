"""The process of a plugin: go-plugin's handshake with mutual TLS, and relay's services.

plugin.py needs to know nothing of this but Failure and Call.
"""
import base64
import concurrent.futures
import datetime
import os
import queue
import signal
import sys
import threading
import time

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from google.protobuf import empty_pb2, json_format

from relay.plugin.v1 import base_pb2 as base
from relay.plugin.v1 import builder_pb2 as builder
from relay.plugin.v1 import provider_pb2 as provider

COOKIE = "ea8aee2ced750b5ca0984811dbc7ae6ccad51c3d983b3ba71e9f182b178b5b1f"
MAX_MESSAGE = 32 << 20
# What a plugin can be: its service, the call, the request, its events and the first of them.
PROVIDER = ("relay.plugin.v1.Provider", "Complete", provider.CompleteRequest, provider.CompleteEvent, provider.CompleteStarted)
BUILDER = ("relay.plugin.v1.Builder", "Build", builder.BuildRequest, builder.BuildEvent, builder.BuildStarted)
OPTIONS = [("grpc.max_receive_message_length", MAX_MESSAGE), ("grpc.max_send_message_length", MAX_MESSAGE)]


class Failure(Exception):
    """Work that failed, as facts; whether it is repeated is relay's decision."""

    def __init__(self, reason, summary, effect="NONE", **facts):
        super().__init__(summary)
        self.message = base.Failure(reason="REASON_" + reason, effect="EFFECT_" + effect, summary=summary[:200], **facts)


class Call:
    """One running call: what it sends, and whether it was cancelled."""

    def __init__(self, kind):
        self.cancelled = threading.Event()
        self._events, self._event, self._started = queue.Queue(), kind[3], kind[4]

    def text(self, delta):
        """A provider's answer, piece by piece."""
        self._events.put({"text_delta": delta})

    def file(self, path):
        """A file that a builder has changed, relative to the workspace."""
        self._events.put({"file": builder.FileTouched(path=path)})

    def usage(self, **tokens):
        self._events.put({"usage": base.Usage(**tokens)})  # totals, which never go down

    def run(self, work, request):
        """Puts the last event, whatever happens."""
        try:
            self._events.put({"completed": work(request, self)})
        except Failure as failure:
            self._events.put({"failure": failure.message})
        except Exception as error:  # a bug: relay names the plugin for it
            print("the call failed:", repr(error), file=sys.stderr)
            self._events.put({"failure": Failure("INTERNAL", "the plugin failed: " + type(error).__name__, "UNKNOWN").message})

    def events(self):
        """Numbers what is sent; says every 10 s that it is alive."""
        yield self._event(seq=1, started=self._started())
        seq, last = 1, False
        while not last:
            try:
                event = self._events.get(timeout=10)
            except queue.Empty:
                event = {"heartbeat": base.Heartbeat()}
            seq, last = seq + 1, "completed" in event or "failure" in event
            yield self._event(seq=seq, **event)


class Process:
    """The life of the plugin under its host."""

    def __init__(self, kind, info, configure, work):
        self.kind, self.info, self.configure, self.work = kind, info, configure, work
        self.configured, self.lock, self.running = False, threading.Lock(), set()

    def get_info(self, request, context):
        return self.info

    def set_config(self, request, context):
        with self.lock:
            again, self.configured = self.configured, True
        try:
            if again:
                raise Failure("BAD_CONFIG", "the plugin is configured already", fix="start it anew")
            self.configure(request)
        except Failure as failure:
            return base.ConfigureResponse(failure=failure.message)
        return base.ConfigureResponse()

    def health(self, request, context):
        return base.HealthResponse()

    def call(self, request, context):
        call = Call(self.kind)
        worker = threading.Thread(target=call.run, args=(self.work, request), daemon=True)
        self.running.add(worker)
        context.add_callback(call.cancelled.set)
        worker.start()
        try:
            yield from call.events()
        finally:
            worker.join()
            self.running.discard(worker)

    def drain(self, request, context):
        until = time.monotonic() + request.grace.ToTimedelta().total_seconds()
        while self.running and time.monotonic() < until:
            time.sleep(0.01)
        threading.Timer(0.25, os._exit, [0]).start()
        return base.DrainResponse()

    def shutdown(self, request, context):
        threading.Timer(0.1, os._exit, [0]).start()
        return empty_pb2.Empty()

    def stdio(self, request, context):
        while context.is_active():  # nothing is sent this way; the stream stays open
            time.sleep(1)
        yield from ()

    def handlers(self):
        def one(method, request):
            return grpc.unary_unary_rpc_method_handler(method, request.FromString, lambda m: m.SerializeToString())

        def many(method, request):
            return grpc.unary_stream_rpc_method_handler(method, request.FromString, lambda m: m.SerializeToString())

        service, name, request = self.kind[:3]
        healthy = grpc.unary_unary_rpc_method_handler(lambda request, context: b"\x08\x01")  # status: SERVING
        return [grpc.method_handlers_generic_handler(path, methods) for path, methods in {
            "relay.plugin.v1.Base": {
                "GetInfo": one(self.get_info, base.GetInfoRequest), "Configure": one(self.set_config, base.ConfigureRequest),
                "Health": one(self.health, base.HealthRequest), "Drain": one(self.drain, base.DrainRequest)},
            service: {name: many(self.call, request)},
            "grpc.health.v1.Health": {"Check": healthy},
            "plugin.GRPCController": {"Shutdown": one(self.shutdown, empty_pb2.Empty)},
            "plugin.GRPCStdio": {"StreamStdio": many(self.stdio, empty_pb2.Empty)},
        }.items()]


def certificate():
    """A key and a certificate that it signs itself, as PEM, and the certificate as DER."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.utcnow()
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=3650))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), True).sign(key, hashes.SHA256()))
    pem = serialization.Encoding.PEM
    return (key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
            made.public_bytes(pem), made.public_bytes(serialization.Encoding.DER))


def lifeline():
    """The host's end of standard input closes when the host is gone, whatever ended it."""
    while os.read(0, 4096):
        pass
    os._exit(0)


def serve(process):
    address = os.path.join(os.environ.get("PLUGIN_UNIX_SOCKET_DIR") or os.environ["TMPDIR"], "plugin%d" % os.getpid())
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(32), handlers=process.handlers(), options=OPTIONS)
    host, shown = os.environ.get("PLUGIN_CLIENT_CERT"), ""
    if host:
        key, cert, der = certificate()
        shown = base64.b64encode(der).decode().rstrip("=")
        server.add_secure_port("unix:" + address, grpc.ssl_server_credentials([(key, cert)], host.encode(), require_client_auth=True))
    else:
        server.add_insecure_port("unix:" + address)
    server.start()
    print("1|1|unix|%s|grpc|%s" % (address, shown), flush=True)
    os.dup2(2, 1)  # what is printed from now on is no part of the handshake
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the host's
    threading.Thread(target=lifeline, daemon=True).start()
    server.wait_for_termination()


def main(kind, info, configure, work):
    if sys.argv[1:] == ["--info"]:
        print(json_format.MessageToJson(info))
    elif os.environ.get("RELAY_PLUGIN_COOKIE") != COOKIE or "1" not in os.environ.get("PLUGIN_PROTOCOL_VERSIONS", "1").split(","):
        sys.exit("This is relay-plugin-%s %s, a plugin of relay, for its protocol 1. relay starts it; try --info." % (info.name, info.version))
    else:
        serve(Process(kind, info, configure, work))
