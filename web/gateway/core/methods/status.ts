import type { status } from '#shared/rpc/methods/status.ts';
import type { Handlers } from '../dispatch.ts';
import type { DoctorDeps } from '../doctor/deps.ts';
import { lazy } from '../lazy.ts';
import type { Presence } from '../status/presence.ts';

export interface StatusMethodsDeps extends DoctorDeps {
  presence: Presence;
  /** Seconds since the gateway started. */
  uptime(): number;
}

export function statusMethods(deps: StatusMethodsDeps): Handlers<typeof status> {
  const machine = lazy(() => import('../status/machine.ts'));
  const doctor = lazy(() => import('../doctor/doctor.ts'));
  const { environment, presence } = deps;
  return {
    'system.info': async (_params, { signal }) => {
      const { python = null, node = null } = (await (await machine()).aboutBridge(deps, signal)) ?? {};
      const { platform, browser, release } = environment;
      return { platform, python, uptime: deps.uptime(), node, browser, version: release, build: deps.build, host: environment.host() };
    },
    'system.presence': async () => ({ entries: await presence.entries() }),
    'web.status': () => presence.app(),
    'update.check': async (_params, { signal }) => (await machine()).checkUpdate(deps, signal),
    'doctor.run': async (_params, { signal }) => (await doctor()).examine(deps, signal),
  };
}
