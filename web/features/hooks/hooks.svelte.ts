import type { Hook, HookCall, HookChanges, HookInput } from '#shared/rpc/methods/hook-contracts.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';

/** Time in which changes are collected before the list is loaded again: a busy hook reports many. */
const RELOAD_MS = 300;

/** Webhooks: calls from other services, and events for them. */
class Hooks {
  /** Null before the first answer. */
  list = $state.raw<Hook[] | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** Incremented at each change of a hook or its calls. */
  changeCount = $state(0);
  #loadCount = 0;

  /** Loads the hooks now and after changes. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = gateway.on('hook.changed', () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        this.changeCount++;
        void this.load();
      }, RELOAD_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    try {
      const { hooks } = await gateway.call('hooks.list', {});
      if (loadId !== this.#loadCount) return;
      this.list = hooks;
      this.problem = null;
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.hooks_doing_read());
    }
  }

  /** Resolves with the secret. This and the following methods reject if the gateway refuses. */
  async create(hook: HookInput): Promise<string> {
    const { secret } = await gateway.call('hooks.create', { hook });
    await this.load();
    return secret;
  }

  async update(name: string, changes: HookChanges): Promise<void> {
    await gateway.call('hooks.update', { name, ...changes });
    await this.load();
  }

  async rotate(name: string, secret?: string): Promise<string> {
    const result = await gateway.call('hooks.rotate', { name, ...(secret === undefined ? {} : { secret }) });
    await this.load();
    return result.secret;
  }

  async remove(name: string): Promise<void> {
    await gateway.call('hooks.delete', { name });
    await this.load();
  }

  async test(name: string): Promise<HookCall> {
    return (await gateway.call('hooks.test', { name })).call;
  }

  async listCalls(name: string, limit: number): Promise<HookCall[]> {
    return (await gateway.call('hooks.deliveries', { name, limit })).deliveries;
  }

  async resend(id: string): Promise<void> {
    await gateway.call('hooks.resend', { id });
  }
}

export const hooks = new Hooks();
