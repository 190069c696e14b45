relay status
relay queue
relay tmux-status
relay
relay status
