relay config show
tick
