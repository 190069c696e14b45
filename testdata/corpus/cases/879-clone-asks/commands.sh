RELAY_TRUST= tick --set commit.on_success=true; relay trust --show "${usual[@]}"
