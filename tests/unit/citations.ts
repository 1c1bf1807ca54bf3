import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Citation {
  file: string;
  /** Null if the first argument is not a literal, so that the id is unknown. */
  id: string | null;
}

/** Every call of `verifies(…)` in a test's source, by its literal ids. */
export function findCitations(source: string, file: string): Citation[] {
  const citations: Citation[] = [];
  for (const [, argument] of source.matchAll(/(?<![\w.$'"`])verifies\(\s*(\[[^\]]*\]|'[^']*'|"[^"]*"|[^,)]*)/g)) {
    const ids = [...(argument ?? '').matchAll(/['"]([^'"]+)['"]/g)].map(([, id]) => id ?? '');
    if (ids.length === 0) citations.push({ file, id: null });
    else citations.push(...ids.map((id) => ({ file, id })));
  }
  return citations;
}

/** The citations of every test file under the given folders. */
export function findCitationsUnder(root: string, folders: readonly string[]): Citation[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
      .map((entry) => join(entry.parentPath, entry.name))
      .flatMap((file) => findCitations(readFileSync(file, 'utf8'), file.slice(root.length + 1))),
  );
}
