SELECT count(*) FROM orders WHERE quantity > 10;
