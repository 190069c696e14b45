module in

go 1.22
