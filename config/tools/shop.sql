-- The tables that profile sql-answer asks about; put yours in their place.
CREATE TABLE customer (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    country TEXT NOT NULL,
    joined_on TEXT NOT NULL
);

CREATE TABLE purchase (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customer (id),
    ordered_on TEXT NOT NULL,
    total_cents INTEGER NOT NULL
);
