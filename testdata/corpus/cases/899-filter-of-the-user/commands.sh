tick --task "$RELAY_TASK" # the operator's own: under a planner's "**" what git runs is closed
