SELECT region, product, count(*), sum(amount) FROM orders GROUP BY region, product ORDER BY 4 DESC LIMIT 15;
