"""What relay starts."""
import plugin
import serve

serve.main(serve.BUILDER, plugin.INFO, plugin.configure, plugin.build)
