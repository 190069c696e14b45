package more
