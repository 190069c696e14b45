"""What relay starts."""
import plugin
import serve

serve.main(plugin.INFO, plugin.configure, plugin.complete)
