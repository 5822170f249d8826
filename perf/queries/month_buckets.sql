SELECT substr(day, 1, 7) AS month, sum(amount) FROM orders GROUP BY month ORDER BY month;
