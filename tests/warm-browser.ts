import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findHostBrowser } from '../bridge/headless/find-browser.ts';
import { createUnattendedOptions } from '../bridge/headless/launch-options.ts';

const START_TIMEOUT_MS = 180_000;

/**
 * Before all tests: a browser has been started once, so that the first test that needs one does not wait for the disk,
 * which may take longer than a test has. A browser that does not start is for the tests to tell.
 */
export default async function setup(): Promise<void> {
  const executable = await findHostBrowser();
  if (executable === null) return;
  const profile = mkdtempSync(join(tmpdir(), 'perch-warm-'));
  const { args, chromiumSandbox } = createUnattendedOptions(executable, [
    '--headless',
    `--user-data-dir=${profile}`,
    '--dump-dom',
    'about:blank',
  ]);
  await promisify(execFile)(executable, [...args, ...(chromiumSandbox ? [] : ['--no-sandbox'])], { timeout: START_TIMEOUT_MS }).catch(
    () => {},
  );
  rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}
