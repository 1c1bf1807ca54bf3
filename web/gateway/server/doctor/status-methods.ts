import { statusContracts } from '#shared/rpc/methods/status-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { DoctorDeps } from './doctor-deps.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { Presence } from '../../system/status/presence.ts';

interface StatusMethodsDeps extends DoctorDeps {
  presence: Presence;
  /** Seconds since the gateway started. */
  uptime(): number;
}

export const statusMethods = defineMethods(statusContracts)((deps: StatusMethodsDeps) => {
  const machine = lazy(() => import('../../system/status/bridge-info.ts'));
  const doctor = lazy(() => import('./doctor.ts'));
  const { environment, presence } = deps;
  return {
    'system.info': async (_params, { signal }) => {
      const { python = null, node = null } = (await (await machine()).getBridgeInfo(deps, signal)) ?? {};
      const { platform, browser, release } = environment;
      return { platform, python, uptime: deps.uptime(), node, browser, version: release, build: deps.build, host: environment.host() };
    },
    'system.presence': async () => ({ entries: await presence.list() }),
    'web.status': () => presence.getAppState(),
    'update.check': async (_params, { signal }) => (await machine()).checkUpdate(deps, signal),
    'doctor.run': async (_params, { signal }) => (await doctor()).runDoctor(deps, signal),
  };
});
