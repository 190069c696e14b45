relay task list
relay pipeline check
relay pipeline generate --provider replay
relay status
