SELECT quantity / 5 AS bucket, min(amount), max(amount), count(*) FROM orders GROUP BY bucket ORDER BY bucket;
