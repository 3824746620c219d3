"""What quantifair costs and how well its intervals cover: measured, stored, published."""
