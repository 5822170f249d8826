SELECT count(*), sum(quantity), sum(amount), avg(amount), min(amount), max(amount) FROM orders;
