"""Values: what flows through a statement. Storage classes, affinity, text, numbers as text, comparison, arithmetic."""
