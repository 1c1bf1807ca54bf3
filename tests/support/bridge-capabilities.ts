import { logsPort, systemPort } from '#shared/ports/system-port.ts';
import { type SystemDeps, createSystemHandlers } from '../../bridge/capabilities/system/system-handlers.ts';
import { ProcessKeeper } from '../../bridge/processes/process-keeper.ts';
import { LogRing } from '../../bridge/log-ring.ts';
import { type FakeCapability, createCapability } from './fake-bridge.ts';

/** The bridge's log as a port. */
export function createLogsCapability(ring = new LogRing()): { ring: LogRing; capability: FakeCapability } {
  return { ring, capability: createCapability(logsPort, { 'logs.read': async (params) => ring.read(params) }) };
}

/** The bridge's machine, partly simulated if a test wants it, with the bridge's real handlers. */
export const createSystemCapability = (change: Partial<SystemDeps> = {}): FakeCapability =>
  createCapability(
    systemPort,
    createSystemHandlers({
      keeper: new ProcessKeeper(() => {}),
      home: {
        ...{ dir: '/nowhere', tokenFile: '/nowhere/token', credentialsFile: '/nowhere/credentials.json' },
        ...{ accessFile: '/nowhere/access.json', passwordFile: '/nowhere/password.json' },
      },
      ...{ version: '0.0.0', build: 'test', mode: 'auto', isRoot: false, findBrowser: async () => '/usr/bin/chromium' },
      ...change,
    }),
  );
