/** Schema migrations, only ever appended to. A file's `user_version` is the number applied. */
export const MIGRATIONS = [
  `
  CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    store TEXT NOT NULL,
    key TEXT NOT NULL,
    clock TEXT NOT NULL,
    fence INTEGER,
    base TEXT,
    deleted INTEGER NOT NULL,
    seal TEXT NOT NULL,
    pusher TEXT,
    at INTEGER NOT NULL,
    mac BLOB NOT NULL,
    blobs TEXT,
    payload TEXT,
    UNIQUE (store, key)
  ) STRICT;
  CREATE INDEX tombstones ON records (at) WHERE deleted = 1;
  CREATE INDEX referring ON records (seq) WHERE blobs IS NOT NULL;
  CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT, fence INTEGER NOT NULL, until INTEGER NOT NULL) STRICT;
  CREATE TABLE blobs (hash TEXT PRIMARY KEY, at INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
  -- One opening of the journal that replicas read from: the newest sequence number that it can have told them.
  CREATE TABLE eras (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, until INTEGER NOT NULL) STRICT;
  CREATE TABLE notices (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, message TEXT NOT NULL) STRICT;
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  `,
];
