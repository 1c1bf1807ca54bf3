import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OptionalPackage } from '../../bridge/extras/extra.ts';
import { createGgufExtra } from '../../bridge/extras/gguf-extra.ts';
import { ProcessKeeper } from '../../bridge/processes/process-keeper.ts';

/** A home whose extras are shared: one installation serves all test runs of this checkout. */
export const EXTRAS_HOME = join(import.meta.dirname, '../../.cache');
const LOCK = join(EXTRAS_HOME, 'extras.lock');
const INSTALL_MS = 240_000;

/** The package that runs GGUF models, installed once; or the reason why it can't be installed. */
export async function installSharedExtra(): Promise<{ extra: OptionalPackage; missing?: string }> {
  const extra = new OptionalPackage(createGgufExtra(), { home: EXTRAS_HOME, keeper: new ProcessKeeper(() => {}) });
  try {
    while ((await extra.state()).state !== 'ready') {
      // One test file installs it; the others wait.
      if (await acquireLock())
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

async function acquireLock(): Promise<boolean> {
  await mkdir(EXTRAS_HOME, { recursive: true });
  try {
    await mkdir(LOCK);
    return true;
  } catch {
    const since = (await stat(LOCK).catch(() => undefined))?.mtimeMs;
    // Left by a killed run.
    if (since !== undefined && Date.now() - since > 2 * INSTALL_MS)
      await rm(LOCK, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    return false;
  }
}
