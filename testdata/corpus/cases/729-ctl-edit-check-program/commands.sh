tick --task "$RELAY_TASK"
