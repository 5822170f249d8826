SELECT count(DISTINCT product), count(DISTINCT day), count(DISTINCT quantity) FROM orders;
