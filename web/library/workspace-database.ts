import { Database } from '../gateway/storage/database.ts';
import { migrations, type WorkspaceSchema } from './workspace-schema.ts';

export type WorkspaceDatabase = Database<WorkspaceSchema>;

/**
 * Open databases by name. All users of a workspace in a page or worker share one connection, which closes for a newer build and when the
 * database is deleted.
 */
const databases = new Map<string, WorkspaceDatabase>();

/** Returns the name of a workspace's database. Throws an Error if it is empty. */
export function toDatabaseName(workspaceDir: string): string {
  const name = workspaceDir.replace(/\/+$/, '');
  if (name.trim() === '') throw new Error('The workspace must be the name of a database. It must not be empty.');
  return name;
}

/** Returns the IndexedDB database of this name. It is opened or created with the first operation. */
export function getWorkspaceDatabase(name: string): WorkspaceDatabase {
  const existing = databases.get(name);
  if (existing) return existing;
  const database = new Database({
    name,
    migrations,
    onblocked: () =>
      console.warn(`${describeDatabase(name)} is open in an older version of Perch in another tab. Close that tab to continue.`),
  });
  databases.set(name, database);
  return database;
}

/** Runs work over a database. Rejects with a sentence for the user if it fails. */
export async function withDatabaseErrors<T>(name: string, failure: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${failure}: ${toReason(name, error)}`, { cause: error });
  }
}

function toReason(name: string, error: unknown): string {
  if (typeof indexedDB === 'undefined') return 'IndexedDB is not available here';
  // Its stores are missing: another program created the database.
  if (error instanceof DOMException && error.name === 'NotFoundError')
    return `${describeDatabase(name)} belongs to another program. Choose another name.`;
  return error instanceof Error || error instanceof DOMException ? error.message : String(error);
}

const describeDatabase = (name: string): string => `Database ${JSON.stringify(name)}`;
