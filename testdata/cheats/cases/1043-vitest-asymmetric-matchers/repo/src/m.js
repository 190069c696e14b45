export const total = (xs) => 0;
