module x

go 1.22
