tick --task "$RELAY_TASK" --beyond-ceiling
