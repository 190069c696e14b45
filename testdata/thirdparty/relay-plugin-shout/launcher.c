// One program of the plugin: a Python interpreter that runs the zip archive which the
// Makefile puts behind it. relay starts exactly the file whose hash it knows, and
// nothing for it: so a script and the interpreter of the system won't do.
#include <Python.h>

int main(int argc, char **argv) {
    char *args[] = {argv[0], "-IB", "/proc/self/exe", argc > 1 ? argv[1] : NULL, NULL};
    return Py_BytesMain(argc > 1 ? 4 : 3, args);
}
