SELECT count(*) FROM orders WHERE amount > 480 OR quantity = 19 OR region = 'centre';
