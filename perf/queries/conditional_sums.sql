SELECT region, sum(CASE WHEN quantity > 10 THEN amount ELSE 0 END), count(*) FILTER (WHERE note IS NULL), max(day) FROM orders GROUP BY region;
