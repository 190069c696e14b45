name() { echo hello; }
