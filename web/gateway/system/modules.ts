import { type Clock, every } from '#shared/async/clock.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { Port } from '#shared/ports/port.ts';
import type { Bridge } from '../ports/bridge-interface.ts';
import type { SyncStore } from '#shared/sync/record.ts';
import type { RemoteChange, Vault } from '../storage/vault-interface.ts';

/** Milliseconds before a module whose load failed is woken again. */
const RETRY_MS = 60_000;

/** A part of the gateway whose code is loaded on first use. */
export interface Lazy<Part> {
  /** Loads the part once. Rejects if that fails; the next call tries again. */
  readonly load: () => Promise<Part>;
}

export interface Loadable<Part> extends Lazy<Part> {
  /** Undefined until the part has been loaded. */
  readonly loaded: Part | undefined;
  /** The part, after waiting for a load in progress; undefined if there is none. */
  settled(): Promise<Part | undefined>;
}

/** Events that load a module before its first use. */
interface WakeOn<Needs> {
  /** Holds at the start or after a change of the settings; limits `changes`. */
  if?(needs: Needs): boolean | Promise<boolean>;
  /** Another host has changed one of these stores. The part gets the changes by `onChanges`. */
  changes?: readonly SyncStore[];
  /** The bridge provides this capability. A loaded part stays when the bridge detaches. */
  capability?: Pick<Port, 'kind'>;
  /** Milliseconds since the start. */
  after?: number;
  /** Interval in milliseconds at which `if` is checked or the part refreshed, for what changes without an event. */
  every?: number;
}

/** `Needs`: what the module is given; `Part`: what it provides. */
export interface Module<Name extends string, Needs, Part> {
  readonly name: Name;
  /** Names of what it is given: parts of the gateway, and other modules. */
  readonly needs: readonly (keyof Needs & string)[];
  load(needs: Needs): Promise<Part>;
  readonly wakeOn?: WakeOn<Needs>;
  /** Called after a change of the settings, and when `wakeOn.if` has loaded the part. */
  refresh?(part: Part): unknown;
  onChanges?(part: Part, changes: readonly RemoteChange[]): unknown;
  /** Ends what is under way within `ms`; the part accepts nothing new. */
  drain?(part: Part, ms: number): Promise<void>;
  stop?(part: Part): unknown;
}

/** Declares a module. `AllNeeds` are the dependencies of its part; a missing one is a compile error. */
export const defineModule =
  <AllNeeds extends object>() =>
  <const Name extends string, const Need extends keyof AllNeeds & string, Part>(
    module: Module<Name, Pick<AllNeeds, Need>, Part> & { readonly needs: readonly Need[] },
  ): Module<Name, Pick<AllNeeds, Need>, Part> =>
    module;

export type AnyModule = Module<string, never, unknown>;
type PartOf<Each> = Each extends { load(needs: never): Promise<infer Part> } ? Part : never;
type NeedsOf<Each> = Each extends { load(needs: infer Needs): unknown } ? Needs : never;
/** The intersection of a union's members. */
export type ToIntersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void ? All : never;

/** The parts of modules, by the names of the modules. */
type ModuleParts<All extends readonly AnyModule[]> = {
  readonly [Each in All[number] as Each['name']]: Loadable<PartOf<Each>>;
};

/** Dependencies of modules that the rest of the gateway provides. */
type ModuleNeeds<All extends readonly AnyModule[]> = Omit<ToIntersection<NeedsOf<All[number]>>, keyof ModuleParts<All>> & ModuleServices;

interface ModuleServices {
  vault: Pick<Vault, 'onRemoteChanges'>;
  bridge: Bridge;
  clock: Clock;
  fault(error: unknown): unknown;
}

/** The modules of one gateway: loads each once, when it is needed, and stops what was loaded. */
export class Modules<const All extends readonly AnyModule[]> {
  readonly parts: ModuleParts<All>;
  readonly #all: readonly RunningModule[];
  readonly #needs = Promise.withResolvers<object>();
  #services: ModuleServices | undefined;

  constructor(modules: All) {
    const fault = (error: unknown): unknown => this.#services?.fault(error);
    this.#all = modules.map(
      (module) => new RunningModule(module as unknown as Module<string, object, unknown>, this.#needs.promise, fault),
    );
    this.parts = Object.fromEntries(this.#all.map((module) => [module.name, module])) as unknown as ModuleParts<All>;
  }

  /** Gives the modules what they need. Until then, what asks for one waits. */
  provide(needs: ModuleNeeds<All>): void {
    this.#services = needs;
    this.#needs.resolve({ ...needs, ...this.parts });
  }

  /** Loads what the start loads, and from then on what other events load. */
  wake(): void {
    for (const module of this.#all) if (this.#services) module.wake(this.#services);
  }

  /** Called after a change of the settings. */
  refresh(): void {
    for (const module of this.#all) module.refresh();
  }

  async drain(ms: number): Promise<void> {
    await Promise.all(this.#all.map((module) => module.drain(ms)));
  }

  stop(): void {
    for (const module of this.#all) module.stop();
  }
}

class RunningModule implements Loadable<unknown> {
  readonly name: string;
  loaded: unknown;
  readonly #module: Module<string, object, unknown>;
  readonly #needs: Promise<object>;
  readonly #fault: (error: unknown) => unknown;
  #loading: Promise<unknown> | undefined;
  #stops: (() => void)[] = [];
  #cancelRetry = (): void => {};
  #clock: Clock | undefined;
  #draining = false;
  #stopped = false;

  constructor(module: Module<string, object, unknown>, needs: Promise<object>, fault: (error: unknown) => unknown) {
    this.name = module.name;
    this.#module = module;
    this.#needs = needs;
    this.#fault = fault;
  }

  readonly #loadOnce = lazy(async () => {
    const { needs: names, load } = this.#module;
    const all = await this.#needs;
    const part = await load(Object.fromEntries(names.map((name) => [name, all[name as keyof typeof all]])));
    this.loaded = part;
    if (this.#draining) void this.#module.drain?.(part, 0).catch(this.#fault);
    if (this.#stopped) this.#stopPart();
    return part;
  });

  readonly load = (): Promise<unknown> => {
    this.#loading = this.#loadOnce();
    return this.#loading;
  };

  async settled(): Promise<unknown> {
    await this.#loading?.catch(() => {});
    return this.loaded;
  }

  wake({ vault, bridge, clock }: ModuleServices): void {
    const { wakeOn } = this.#module;
    if (!wakeOn || this.#stopped) return;
    this.#clock = clock;
    const { changes, capability, after, every: interval } = wakeOn;
    if (changes)
      this.#stops.push(
        vault.onRemoteChanges((all) => {
          const own = all.filter(({ store }) => changes.includes(store));
          if (own.length > 0) this.#loadIf((part) => this.#module.onChanges?.(part, own));
        }),
      );
    if (capability) {
      const check = (): void => {
        if (this.loaded === undefined && bridge.provides(capability)) this.#loadIf();
      };
      this.#stops.push(bridge.watch(check));
      check();
    }
    if (after !== undefined) this.#stops.push(clock.after(after, () => this.#loadIf()));
    if (interval !== undefined) this.#stops.push(every(clock, interval, () => this.refresh()));
    this.refresh();
  }

  refresh(): void {
    const { wakeOn, refresh } = this.#module;
    if (this.#stopped) return;
    if (this.loaded !== undefined) refresh?.(this.loaded);
    else if (wakeOn?.if && this.#clock) this.#loadIf((part) => refresh?.(part));
  }

  /** Loads the part if its own condition holds; tries again later if that fails. */
  #loadIf(then: (part: unknown) => unknown = () => {}): void {
    const load = async (): Promise<void> => {
      const isNeeded = this.loaded !== undefined || ((await this.#module.wakeOn?.if?.((await this.#needs) as never)) ?? true);
      if (isNeeded && !this.#stopped) await then(await this.load());
    };
    load().catch((error: unknown) => {
      if (this.#stopped) return;
      this.#fault(error);
      this.#cancelRetry();
      if (this.loaded === undefined && this.#clock) this.#cancelRetry = this.#clock.after(RETRY_MS, () => this.#loadIf(then));
    });
  }

  async drain(ms: number): Promise<void> {
    this.#draining = true;
    // A part that failed to load has nothing to drain.
    const part = this.loaded ?? (await this.settled());
    if (part !== undefined) await this.#module.drain?.(part, ms).catch((error: unknown) => void this.#fault(error));
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#cancelRetry();
    for (const stop of this.#stops) stop();
    if (this.loaded !== undefined) this.#stopPart();
  }

  #stopPart(): void {
    const stop = async (): Promise<unknown> => this.#module.stop?.(this.loaded);
    stop().catch(this.#fault);
  }
}
