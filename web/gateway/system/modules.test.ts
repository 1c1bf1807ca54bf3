import { describe, expect, it, vi } from 'vitest';
import type { SyncStore } from '#shared/sync/record.ts';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import { type Bridge, detachedBridge } from '../ports/bridge-interface.ts';
import type { RemoteChange } from '../storage/vault-interface.ts';
import { defineModule, type Module, Modules } from './modules.ts';

/** A part that records what it is told. */
function createPart() {
  const calls: string[] = [];
  return {
    calls,
    refresh: () => void calls.push('refresh'),
    drain: async (ms: number) => void calls.push(`drain ${ms}`),
    stop: () => void calls.push('stop'),
    change: (changes: readonly RemoteChange[]) => void calls.push(`changes of ${changes.map(({ key }) => key).join(', ')}`),
  };
}
type Part = ReturnType<typeof createPart>;

/** The module `cron`, with its part and number of loads. */
function start({
  wakeOn,
  load,
  woken = true,
}: Partial<Pick<Module<'cron', { isOn: () => boolean }, Part>, 'wakeOn' | 'load'>> & { woken?: boolean }) {
  const clock = new FakeClock();
  const part = createPart();
  const faults: unknown[] = [];
  const loading = vi.fn(load ?? (async () => part));
  let isOn = false;
  let announce: (changes: readonly RemoteChange[]) => void = () => {};
  let capabilities: string[] = [];
  let onBridge = (): void => {};
  const modules = new Modules([
    defineModule<{ isOn: () => boolean }>()({
      name: 'cron',
      needs: ['isOn'],
      load: loading,
      ...(wakeOn && { wakeOn }),
      refresh: (each) => each.refresh(),
      onChanges: (each, changes) => each.change(changes),
      drain: (each, ms) => each.drain(ms),
      stop: (each) => each.stop(),
    }),
  ]);
  modules.provide({
    isOn: () => isOn,
    vault: {
      onRemoteChanges(listener) {
        announce = listener;
        return () => (announce = () => {});
      },
    },
    bridge: {
      ...detachedBridge,
      provides: ({ kind }: { kind: string }) => capabilities.includes(kind),
      watch(listener: () => void) {
        onBridge = listener;
        return () => (onBridge = () => {});
      },
    } as Bridge,
    clock,
    fault: (error) => void faults.push(error),
  });
  if (woken) modules.wake();
  return {
    ...{ modules, clock, part, faults, loading },
    change: (store: SyncStore, key: string) => announce([{ store, key, deleted: false }]),
    turnOn() {
      isOn = true;
      modules.refresh();
    },
    attach(kind: string) {
      capabilities = [kind];
      onBridge();
    },
  };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a module', () => {
  it('is loaded once, on first use, with what it needs', async () => {
    const { modules, part, loading } = start({});
    const { cron } = modules.parts;
    expect(cron.loaded).toBeUndefined();
    expect(await Promise.all([cron.load(), cron.load()])).toEqual([part, part]);
    expect(loading).toHaveBeenCalledTimes(1);
    expect(Object.keys(loading.mock.calls[0]?.[0] ?? {})).toEqual(['isOn']);
    expect(cron.loaded).toBe(part);
  });

  it('waits for the gateway to be assembled', async () => {
    const modules = new Modules([
      defineModule<{ name: string }>()({ name: 'guide', needs: ['name'], load: async ({ name }) => ({ name }) }),
    ]);
    const loaded = modules.parts.guide.load();
    const services = { bridge: detachedBridge, clock: new FakeClock(), vault: { onRemoteChanges: () => () => {} }, fault: () => {} };
    modules.provide({ name: 'Ana', ...services });
    expect(await loaded).toEqual({ name: 'Ana' });
  });

  it('is loaded when its condition holds, and told to refresh then and after each change of the settings', async () => {
    const { part, loading, turnOn, modules } = start({ wakeOn: { if: ({ isOn }) => isOn() } });
    await settle();
    expect(loading).not.toHaveBeenCalled();
    turnOn();
    await settle();
    modules.refresh();
    expect(part.calls).toEqual(['refresh', 'refresh']);
  });

  it('is loaded by changes of its stores alone, and gets them', async () => {
    const { part, loading, change } = start({ wakeOn: { changes: ['jobs'] } });
    change('messages', 'a');
    await settle();
    expect(loading).not.toHaveBeenCalled();
    change('jobs', 'b');
    await settle();
    change('jobs', 'c');
    await settle();
    expect(part.calls).toEqual(['changes of b', 'changes of c']);
  });

  it('is loaded by the bridge’s capability, and after a while', async () => {
    const withBridge = start({ wakeOn: { capability: { kind: 'files' } } });
    withBridge.attach('shell');
    await settle();
    expect(withBridge.loading).not.toHaveBeenCalled();
    withBridge.attach('files');
    await settle();
    withBridge.attach('files');
    expect(withBridge.loading).toHaveBeenCalledTimes(1);
    const timed = start({ wakeOn: { after: 1500 } });
    await settle();
    expect(timed.loading).not.toHaveBeenCalled();
    timed.clock.advance(1500);
    await settle();
    expect(timed.loading).toHaveBeenCalledTimes(1);
  });

  it('that fails to load is reported and tried again, by its next use at once', async () => {
    const part = createPart();
    let failures = 2;
    const load = async (): Promise<Part> => {
      if (failures-- > 0) throw new Error('offline');
      return part;
    };
    const { modules, faults, clock, loading } = start({ load, wakeOn: { if: () => true } });
    await settle();
    expect(faults).toEqual([new Error('offline')]);
    await expect(modules.parts.cron.load()).rejects.toThrow('offline');
    clock.advance(60_000);
    await settle();
    expect(loading).toHaveBeenCalledTimes(3);
    expect(modules.parts.cron.loaded).toBe(part);
  });

  it('is stopped once it is loaded, also if that is later, and is not woken any more', async () => {
    const { modules, part, loading, change, turnOn } = start({ wakeOn: { if: ({ isOn }) => isOn(), changes: ['jobs'] } });
    const loaded = modules.parts.cron.load();
    modules.stop();
    modules.stop();
    await loaded;
    expect(part.calls).toEqual(['stop']);
    turnOn();
    change('jobs', 'a');
    await settle();
    expect(part.calls).toEqual(['stop']);
    expect(loading).toHaveBeenCalledTimes(1);
  });

  it('is drained if it is loaded or being loaded, and accepts nothing if it is loaded later', async () => {
    const early = start({});
    const loaded = early.modules.parts.cron.load();
    await early.modules.drain(500);
    await loaded;
    expect(early.part.calls).toEqual(['drain 0', 'drain 500']);
    const late = start({});
    await late.modules.drain(500);
    expect(late.loading).not.toHaveBeenCalled();
    await late.modules.parts.cron.load();
    expect(late.part.calls).toEqual(['drain 0']);
    const failing = start({});
    await failing.modules.parts.cron.load();
    failing.part.drain = () => Promise.reject(new Error('stuck'));
    await failing.modules.drain(500);
    expect(failing.faults).toEqual([new Error('stuck')]);
  });
});
