import { logsPort, systemPort } from '#shared/ports/system.ts';
import { type SystemDeps, systemHandlers } from '../../bridge/capabilities/system/system-port.ts';
import { Keeper } from '../../bridge/processes/keep.ts';
import { LogRing } from '../../bridge/log-ring.ts';
import { type Lent, lend } from './fake-bridge.ts';

/** The bridge's log as a port. */
export function lentLogs(ring = new LogRing()): { ring: LogRing; lent: Lent } {
  return { ring, lent: lend(logsPort, { 'logs.read': async (params) => ring.read(params) }) };
}

/** The bridge's machine, partly simulated if a test wants it, with the bridge's real handlers. */
export const lentSystem = (change: Partial<SystemDeps> = {}): Lent =>
  lend(
    systemPort,
    systemHandlers({
      keeper: new Keeper(() => {}),
      home: {
        ...{ dir: '/nowhere', tokenFile: '/nowhere/token', credentialsFile: '/nowhere/credentials.json' },
        ...{ accessFile: '/nowhere/access.json', passwordFile: '/nowhere/password.json' },
      },
      ...{ version: '0.0.0', build: 'test', mode: 'auto', isRoot: false, findBrowser: async () => '/usr/bin/chromium' },
      ...change,
    }),
  );
