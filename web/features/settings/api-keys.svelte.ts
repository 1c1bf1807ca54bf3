import type { MethodParams, MethodResult } from '#shared/rpc/methods/index.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { announcer } from '#app/state/announcer.svelte.ts';

export type ApiKey = MethodResult<'keys.list'>['keys'][number];

/** Keys of programs that may call this gateway. */
class ApiKeys {
  /** Null before the first answer. */
  list = $state.raw<ApiKey[] | null>(null);
  problem = $state<Problem | null>(null);

  async load(): Promise<void> {
    try {
      this.list = (await gateway.call('keys.list', {})).keys;
      this.problem = null;
    } catch (error) {
      // A host of an older build has no API keys.
      const unknown = error instanceof RpcError && error.code === 'METHOD_NOT_FOUND';
      if (!unknown && !isConnectionLost(error)) this.problem = toProblem(error, m.settings_doing_read_keys());
    }
  }

  /** Creates a key and returns its secret, which the gateway reports only once. Rejects if the gateway refuses. */
  async create(params: MethodParams<'keys.create'>): Promise<string> {
    const { secret } = await gateway.call('keys.create', params);
    void this.load();
    return secret;
  }

  /** Rejects if the gateway refuses. */
  async change(params: MethodParams<'keys.update'>): Promise<void> {
    await gateway.call('keys.update', params);
    await this.load();
  }

  /** Rejects if the gateway refuses. */
  async revoke({ id, name }: ApiKey): Promise<void> {
    await gateway.call('keys.revoke', { id });
    this.list = (this.list ?? []).filter((key) => key.id !== id);
    announcer.announce(m.settings_key_revoked({ name }));
  }
}

export const apiKeys = new ApiKeys();
