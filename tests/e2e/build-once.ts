import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Before all end-to-end tests: the built app is of these sources, and there is a browser. */
export default function setup(): void {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, '../../bridge/setup.js'), '--test'], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error('the set-up for the end-to-end tests failed');
}
