import { describe, expect, it } from 'vitest';
import { connectionContracts } from '#shared/rpc/methods/connection-contracts.ts';
import { systemContracts } from '#shared/rpc/methods/system-contracts.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import { SCOPES } from '#shared/rpc/contract.ts';
import { createDispatcher } from './dispatch.ts';
import type { Caller } from '../system/caller.ts';
import type { Methods } from '../system/methods.ts';

const caller = { principal: 'app:local', scopes: SCOPES } as unknown as Caller;

/** `health` exists from the start; `system.heartbeat.last` is added when `arrive` or `fail` is called. */
function dispatcher() {
  const begun: string[] = [];
  const loads: PromiseWithResolvers<Methods>[] = [];
  const noting = (name: string) => async (): Promise<never> => {
    begun.push(name);
    return undefined as never;
  };
  const { call } = createDispatcher({
    loaded: [{ contracts: { health: connectionContracts.health }, handlers: { health: noting('health') } }],
    lazy: [
      {
        namespaces: ['system'],
        load() {
          const load = Promise.withResolvers<Methods>();
          loads.push(load);
          return load.promise;
        },
      },
    ],
  });
  const later: Methods = {
    contracts: { 'system.heartbeat.last': systemContracts['system.heartbeat.last'] },
    handlers: { 'system.heartbeat.last': noting('heartbeat') },
  };
  return {
    begun,
    loads,
    ask: (method: string, params = {}) => call(method, params, caller),
    arrive: () => loads.at(-1)?.resolve(later),
    fail: () => loads.at(-1)?.reject(new TypeError('Failed to fetch dynamically imported module')),
  };
}

describe('lazily loaded methods', () => {
  it('begin in the order in which they were called, those behind them too', async () => {
    const { ask, arrive, begun, loads } = dispatcher();
    const asked = [ask('system.heartbeat.last'), ask('health'), ask('system.heartbeat.last'), ask('health')];
    expect(begun).toEqual([]);
    arrive();
    await Promise.all(asked);
    expect(begun).toEqual(['heartbeat', 'health', 'heartbeat', 'health']);
    expect(loads).toHaveLength(1);
  });

  it('hold up nobody who came before', async () => {
    const { ask, begun, loads } = dispatcher();
    const asked = ask('health');
    expect(begun).toEqual(['health']);
    await asked;
    expect(loads).toEqual([]);
  });

  it('are loaded again after a failure; the caller is told to retry, and other calls continue', async () => {
    const { ask, arrive, fail, begun, loads } = dispatcher();
    const [lost, other] = [ask('system.heartbeat.last'), ask('health')];
    fail();
    await expect(lost).rejects.toMatchObject({ code: 'INTERNAL_ERROR', extra: { retryable: true, details: { reason: 'not-loaded' } } });
    await other;
    expect(begun).toEqual(['health']);
    const again = ask('system.heartbeat.last');
    arrive();
    await again;
    expect(begun).toEqual(['health', 'heartbeat']);
    expect(loads).toHaveLength(2);
  });

  it('are not loaded for unauthorized callers, nor for unknown methods', async () => {
    const { ask, loads } = dispatcher();
    await expect(ask('constructor')).rejects.toMatchObject({ code: 'METHOD_NOT_FOUND' });
    await expect(ask('system.heartbeat.last', JSON.parse('{"__proto__":1}'))).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect(loads).toEqual([]);
  });
});

it('repeats no more of what a caller sent than a person reads', async () => {
  const { ask } = dispatcher();
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, nth) => [`${nth}${'x'.repeat(10_000)}`, 1]));
  for (const params of [{ ['k'.repeat(1_000_000)]: 1 }, many]) {
    const error = await ask('health', params).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'INVALID_PARAMS', message: /^(k|\d)[kx]+….*: is not a parameter$/ });
    expect(JSON.stringify((error as RpcError).toShape()).length).toBeLessThan(4000);
  }
  const error = await ask('m'.repeat(1_000_000)).catch((caught: unknown) => caught);
  expect((error as RpcError).message.length).toBeLessThan(200);
});
