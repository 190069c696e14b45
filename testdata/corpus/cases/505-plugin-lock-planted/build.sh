#!/bin/sh
echo "{\"version\":1,\"plugins\":{\"patch\":{\"hashes\":{}}}}" > relay.lock.json
