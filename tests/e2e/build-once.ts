import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Before all end-to-end tests: the built app is of these sources, a browser exists, and there is a folder for what test files share. */
export default function setup(): () => void {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, '../../bridge/setup.js'), '--test'], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error('the set-up for the end-to-end tests failed');
  const shared = mkdtempSync(join(tmpdir(), 'perch-shared-'));
  process.env['PERCH_TEST_SHARED'] = shared;
  return () => rmSync(shared, { recursive: true, force: true });
}
