SELECT sum(amount * quantity) FROM orders WHERE day >= '2021-01-01' AND day < '2021-07-01' AND quantity < 15;
