module example.com/even

go 1.22
