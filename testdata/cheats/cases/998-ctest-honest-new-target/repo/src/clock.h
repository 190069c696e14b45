void label(char *to, unsigned n);
