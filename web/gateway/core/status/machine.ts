import { systemPort } from '#shared/ports/system.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { ResultOf } from '#shared/rpc/contract.ts';
import type { Bridge } from '../bridge.ts';
import type { Clock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import { withTimeout } from '../providers/watchdog.ts';
import { isNewer } from './versions.ts';

/** Time-out for querying Python, which takes a moment on a sleeping machine. */
const ABOUT_MS = 10_000;
/** Time-out for npm, which reads its settings and queries its registry. */
const LATEST_MS = 40_000;

type About = ResultOf<(typeof systemPort)['calls']['system.about']>;

export interface MachineDeps {
  bridge: Bridge;
  clock: Clock;
  environment: Environment;
}

/** The bridge's information about its machine; null if there is no bridge or it does not respond. */
export async function aboutBridge({ bridge, clock }: Pick<MachineDeps, 'bridge' | 'clock'>, signal: AbortSignal): Promise<About | null> {
  if (!bridge.lends(systemPort)) return null;
  try {
    return await withTimeout(clock, ABOUT_MS, signal, (ends) => bridge.call(systemPort, 'system.about', {}, { signal: ends }));
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** Whether the registry has a newer version. Never rejects. */
export async function checkUpdate({ bridge, clock, environment }: MachineDeps, signal: AbortSignal): Promise<MethodResult<'update.check'>> {
  const currentVersion = environment.release;
  try {
    const { version, error, note } = await withTimeout(clock, LATEST_MS, signal, (ends) =>
      bridge.call(systemPort, 'system.latest', {}, { signal: ends }),
    );
    if (version === null && note !== undefined) return { currentVersion, updateAvailable: false, note };
    if (version === null) return { currentVersion, updateAvailable: false, error: error ?? 'Unknown' };
    return { currentVersion, updateAvailable: isNewer(version, currentVersion), latestVersion: version };
  } catch (error) {
    signal.throwIfAborted();
    return { currentVersion, updateAvailable: false, error: error instanceof Error ? error.message : String(error) };
  }
}
