SELECT count(*) FROM orders;
