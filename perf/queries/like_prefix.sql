SELECT product, count(*) FROM orders WHERE product LIKE 'product-01%' GROUP BY product;
