SELECT CASE WHEN amount < 50 THEN 'small' WHEN amount < 200 THEN 'medium' ELSE 'large' END AS size, count(*), sum(amount) FROM orders GROUP BY 1;
