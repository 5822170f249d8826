SELECT strftime('%Y', day) AS year, region, sum(amount) FROM orders GROUP BY year, region ORDER BY year, region;
