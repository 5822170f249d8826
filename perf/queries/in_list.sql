SELECT count(*), sum(amount) FROM orders WHERE region IN ('north', 'west') AND quantity IN (1, 3, 5, 7);
