import type { Bridge } from '../../ports/bridge-interface.ts';
import type { EventBus } from '../event-bus.ts';
import { isObject } from '#shared/merge-patch.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { LogWriter } from './log.ts';

interface LogWatcherDeps {
  log: LogWriter;
  hub: EventBus;
  sync: SyncPort | undefined;
  bridge: Bridge;
}

/**
 * Logs events of other parts: runs that fail, the bridge and the journal that attach and detach, and changes of the active host. Returns a
 * function that stops it.
 */
export function logGatewayEvents({ log, hub, sync, bridge }: LogWatcherDeps): () => void {
  const unsubscribe = hub.add({
    all: true,
    follows: () => true,
    push({ event, payload }) {
      if (event !== 'chat.error' || payload.error.code === 'ABORTED') return;
      const { runId, agentId, sessionId, error } = payload;
      log.write('warn', 'runs', `Run failed: ${error.message}`, { runId, agentId, sessionId, code: error.code, details: error.details });
    },
  });
  let attached = bridge.provides({ kind: 'logs' });
  const stopBridge = bridge.watch(() => {
    const current = bridge.provides({ kind: 'logs' });
    if (current !== attached) log.write('info', 'bridge', current ? 'Bridge connected' : 'Bridge disconnected');
    attached = current;
  });
  let before = sync?.state();
  const stopSync = sync?.watch(() => {
    const current = sync.state();
    if (current.role !== before?.role) log.write('info', 'sync', ROLE_MESSAGES[current.role]);
    if (current.state !== before?.state || current.problem !== before.problem) {
      const isFailure = current.state === 'failing' || current.state === 'outdated';
      const message = current.problem ?? `Journal: ${current.state}`;
      log.write(isFailure ? 'warn' : 'info', 'sync', message, { state: current.state, pending: current.pending });
    }
    before = current;
  });
  return () => {
    unsubscribe();
    stopBridge();
    stopSync?.();
  };
}

const ROLE_MESSAGES = {
  holder: 'This host is the active gateway',
  replica: 'Another host is the active gateway',
  none: 'No bridge: the active gateway is not determined',
};

/** Logs the names of settings that have changed, without values. */
export function logSettingsChange(log: LogWriter, before: unknown, after: unknown): void {
  const keys = findChangedPaths(before, after, '', 3);
  if (keys.length > 0) log.write('info', 'config', 'Settings changed', { settings: keys });
  else log.write('info', 'config', 'Settings reloaded or a secret changed');
}

/** Dotted paths of differences, down to `depth` names. */
function findChangedPaths(before: unknown, after: unknown, path: string, depth: number): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (depth === 0 || !isObject(before) || !isObject(after)) return [path];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => findChangedPaths(before[name], after[name], path === '' ? name : `${path}.${name}`, depth - 1));
}
