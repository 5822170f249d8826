SELECT avg(length(product)), max(length(note)) FROM orders;
