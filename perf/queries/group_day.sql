SELECT day, sum(quantity), avg(amount) FROM orders GROUP BY day ORDER BY day;
