SELECT quantity, count(*), total(amount) FROM orders GROUP BY quantity ORDER BY 2 DESC;
