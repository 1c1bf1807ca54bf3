import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Extra } from '../../bridge/extras/extra.ts';
import { ggufExtra } from '../../bridge/extras/gguf.ts';
import { Keeper } from '../../bridge/processes/keep.ts';

/** A home of which tests use only the extras: one installation serves all runs of this checkout. */
export const extrasHome = join(import.meta.dirname, '../../.cache');
const LOCK = join(extrasHome, 'extras.lock');
const INSTALL_MS = 240_000;

/** The package that runs GGUF models, fetched once; else why it cannot be. */
export async function sharedExtra(): Promise<{ extra: Extra; missing?: string }> {
  const extra = new Extra(ggufExtra(), { home: extrasHome, keeper: new Keeper(() => {}) });
  try {
    while ((await extra.state()).state !== 'ready') {
      // Of several test files one installs, and the others wait for it.
      if (await took())
        await extra
          .install({ signal: AbortSignal.timeout(INSTALL_MS) })
          .finally(() => rm(LOCK, { recursive: true, maxRetries: 20, retryDelay: 50 }));
      else await sleep(200);
    }
    return { extra };
  } catch (error) {
    return { extra, missing: error instanceof Error ? error.message : String(error) };
  }
}

async function took(): Promise<boolean> {
  await mkdir(extrasHome, { recursive: true });
  try {
    await mkdir(LOCK);
    return true;
  } catch {
    const since = (await stat(LOCK).catch(() => undefined))?.mtimeMs;
    // Of a run that was killed.
    if (since !== undefined && Date.now() - since > 2 * INSTALL_MS)
      await rm(LOCK, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    return false;
  }
}
