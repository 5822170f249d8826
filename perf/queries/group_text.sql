SELECT region, count(*), sum(quantity), avg(amount) FROM orders GROUP BY region;
