SELECT DISTINCT region, quantity FROM orders;
