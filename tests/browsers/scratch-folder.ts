import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a temporary folder, which is deleted when it is disposed. */
export function createScratchFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'perch-browser-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }) };
}
