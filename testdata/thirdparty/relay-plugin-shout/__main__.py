"""What relay starts."""
import plugin
import serve

serve.main(serve.PROVIDER, plugin.INFO, plugin.configure, plugin.complete)
