SELECT product, sum(quantity) AS q FROM orders GROUP BY product HAVING q > 100 ORDER BY q DESC LIMIT 20;
