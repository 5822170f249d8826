SELECT product, total, rank() OVER (ORDER BY total DESC) AS place FROM (SELECT product, sum(quantity) AS total FROM orders GROUP BY product) ORDER BY place, product LIMIT 10;
