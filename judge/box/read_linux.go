package box
