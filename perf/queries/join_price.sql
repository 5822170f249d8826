SELECT sum(o.quantity * p.price) FROM orders o JOIN products p ON p.name = o.product WHERE p.category IN ('tools', 'toys') AND o.day >= '2022-01-01';
