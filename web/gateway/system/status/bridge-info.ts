import { systemPort } from '#shared/ports/system-port.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { ContractResult } from '#shared/rpc/contract.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Environment } from '../../ports/environment.ts';
import { withTimeout } from '#shared/async/watchdog.ts';
import { isNewerVersion } from './compare-versions.ts';

/** Time-out for querying Python, which takes a moment on a sleeping machine. */
const INFO_TIMEOUT_MS = 10_000;
/** Time-out for npm, which reads its settings and queries its registry. */
const UPDATE_TIMEOUT_MS = 40_000;

type BridgeInfo = ContractResult<(typeof systemPort)['calls']['system.about']>;

interface BridgeInfoDeps {
  bridge: Bridge;
  clock: Clock;
  environment: Environment;
}

/** The bridge's information about its machine; null if there is no bridge or it does not respond. */
export async function getBridgeInfo(
  { bridge, clock }: Pick<BridgeInfoDeps, 'bridge' | 'clock'>,
  signal: AbortSignal,
): Promise<BridgeInfo | null> {
  if (!bridge.provides(systemPort)) return null;
  try {
    return await withTimeout(clock, INFO_TIMEOUT_MS, signal, (timeout) => bridge.call(systemPort, 'system.about', {}, { signal: timeout }));
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** Whether the registry has a newer version. Never rejects. */
export async function checkUpdate(
  { bridge, clock, environment }: BridgeInfoDeps,
  signal: AbortSignal,
): Promise<MethodResult<'update.check'>> {
  const currentVersion = environment.release;
  try {
    const { version, error, note } = await withTimeout(clock, UPDATE_TIMEOUT_MS, signal, (timeout) =>
      bridge.call(systemPort, 'system.latest', {}, { signal: timeout }),
    );
    if (version === null && note !== undefined) return { currentVersion, updateAvailable: false, note };
    if (version === null) return { currentVersion, updateAvailable: false, error: error ?? 'Unknown' };
    return { currentVersion, updateAvailable: isNewerVersion(version, currentVersion), latestVersion: version };
  } catch (error) {
    signal.throwIfAborted();
    return { currentVersion, updateAvailable: false, error: error instanceof Error ? error.message : String(error) };
  }
}
