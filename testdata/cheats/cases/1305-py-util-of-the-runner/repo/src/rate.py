def parts(text):
    return text.split(",")[:-1]
