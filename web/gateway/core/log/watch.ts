import type { Bridge } from '../bridge.ts';
import type { Hub } from '../hub.ts';
import { isObject } from '../merge.ts';
import type { SyncPort } from '../sync.ts';
import type { LogWriter } from './log.ts';

export interface WatchDeps {
  log: LogWriter;
  hub: Hub;
  sync: SyncPort | undefined;
  bridge: Bridge;
}

/**
 * Logs events of other parts: runs that fail, the bridge and the journal that attach and detach, and changes of the active host. Returns a
 * function that stops it.
 */
export function watchForLog({ log, hub, sync, bridge }: WatchDeps): () => void {
  const leave = hub.add({
    all: true,
    follows: () => true,
    push({ event, payload }) {
      if (event !== 'chat.error' || payload.error.code === 'ABORTED') return;
      const { runId, agentId, sessionId, error } = payload;
      log.write('warn', 'runs', `Run failed: ${error.message}`, { runId, agentId, sessionId, code: error.code, details: error.details });
    },
  });
  let attached = bridge.lends({ kind: 'logs' });
  const stopBridge = bridge.watch(() => {
    const now = bridge.lends({ kind: 'logs' });
    if (now !== attached) log.write('info', 'bridge', now ? 'Bridge connected' : 'Bridge disconnected');
    attached = now;
  });
  let before = sync?.state();
  const stopSync = sync?.watch(() => {
    const now = sync.state();
    if (now.role !== before?.role) log.write('info', 'sync', ROLES[now.role]);
    if (now.state !== before?.state || now.problem !== before.problem) {
      const wrong = now.state === 'failing' || now.state === 'outdated';
      const message = now.problem ?? `Journal: ${now.state}`;
      log.write(wrong ? 'warn' : 'info', 'sync', message, { state: now.state, pending: now.pending });
    }
    before = now;
  });
  return () => {
    leave();
    stopBridge();
    stopSync?.();
  };
}

const ROLES = {
  holder: 'This host is the active gateway',
  replica: 'Another host is the active gateway',
  none: 'No bridge: the active gateway is not determined',
};

/** Logs the names of settings that have changed, without values. */
export function noteSettings(log: LogWriter, before: unknown, after: unknown): void {
  const keys = changed(before, after, '', 3);
  if (keys.length > 0) log.write('info', 'config', 'Settings changed', { settings: keys });
  else log.write('info', 'config', 'Settings reloaded or a secret changed');
}

/** Dotted paths of differences, down to `depth` names. */
function changed(before: unknown, after: unknown, path: string, depth: number): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (depth === 0 || !isObject(before) || !isObject(after)) return [path];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => changed(before[name], after[name], path === '' ? name : `${path}.${name}`, depth - 1));
}
