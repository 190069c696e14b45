#!/bin/sh
echo x > "src/a-hunter22$(echo -of)-mine.txt"
