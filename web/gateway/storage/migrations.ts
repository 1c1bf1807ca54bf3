import type { Connection, UpgradeTransaction } from './schema.ts';

/** A migration. It awaits nothing but IndexedDB. */
export type Step = (db: Connection, tx: UpgradeTransaction) => void | Promise<void>;

/**
 * How the database came to be what it is: append only, never edit a step that was released. The version is the length.
 */
export const steps: readonly Step[] = [
  (db) => {
    db.createObjectStore('sessions', { keyPath: 'key' });
    const messages = db.createObjectStore('messages', { keyPath: 'id' });
    messages.createIndex('branch', ['sessionKey', 'depth']);
    messages.createIndex('timestamp', 'timestamp');
    const runs = db.createObjectStore('runs', { keyPath: 'id' });
    runs.createIndex('session', 'sessionKey');
    runs.createIndex('status', 'status');
    db.createObjectStore('partials', { keyPath: 'runId' });
    db.createObjectStore('config', { keyPath: 'name' });
    db.createObjectStore('secrets', { keyPath: 'name' });
    db.createObjectStore('keys', { keyPath: 'name' });
    db.createObjectStore('memories', { keyPath: 'id' }).createIndex('createdAt', 'createdAt');
    db.createObjectStore('usage', { keyPath: 'id' }).createIndex('until', 'until');
    db.createObjectStore('changes', { keyPath: ['store', 'key'] }).createIndex('clock', 'clock');
    db.createObjectStore('local', { keyPath: 'name' });
  },
];
