SELECT count(*), count(note), sum(note IS NULL), max(coalesce(note, '')) FROM orders;
