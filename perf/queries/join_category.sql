SELECT p.category, count(*), sum(o.amount) FROM orders o JOIN products p ON p.name = o.product GROUP BY p.category ORDER BY 3 DESC;
