SELECT region, id, max(amount) FROM orders GROUP BY region;
