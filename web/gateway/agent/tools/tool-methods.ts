import { toolContracts } from '#shared/rpc/methods/tool-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Clock } from '#shared/async/clock.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Picture, SentFile, ToolRegistry } from './tool-registry.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { TOOL_SEARCH } from '../../storage/records/routed-call.ts';
import { SEARCH_LABEL } from './search-specs.ts';

interface ToolMethodsDeps {
  tools: ToolRegistry;
  clock: Clock;
  vault: Pick<Vault, 'collection'>;
}

export const toolMethods = defineMethods(toolContracts)(({ tools: registry, clock, vault }: ToolMethodsDeps) => {
  /** Calls that can be cancelled, by principal and the caller's id. */
  const running = new Map<string, AbortController>();
  const toCallKey = (principal: string, callId: string): string => JSON.stringify([principal, callId]);
  return {
    'tools.list': async () => {
      await registry.loadAll();
      const list = registry.list();
      const labels = list.flatMap(({ name, modelName = name, title, summary }) =>
        [...new Set([name, modelName])].map((each) => [each, { title, summary }] as const),
      );
      return { tools: list.map(({ name }) => name), labels: { ...Object.fromEntries(labels), [TOOL_SEARCH]: SEARCH_LABEL } };
    },
    'tools.catalog': async () => {
      await registry.loadAll();
      const list = registry.list().map((tool) => ({
        ...{ name: tool.name, title: tool.title, summary: tool.summary, description: tool.description },
        ...{ schema: tool.schema, source: tool.source },
        ...{ effect: tool.effect !== undefined, policy: registry.getPolicy(tool) },
        ...(tool.asksWhen !== undefined && registry.getPolicy(tool) === 'ask' && registry.getPolicy({ name: tool.name }) === 'auto'
          ? { asksWhen: tool.asksWhen }
          : {}),
      }));
      return { tools: list, count: list.length };
    },
    'tools.run': async ({ tool, args, agentId, callId }, { principal, scopes, signal }) => {
      const files: SentFile[] = [];
      const pictures: Picture[] = [];
      const began = clock.now();
      const cancel = new AbortController();
      const name = callId === undefined ? null : toCallKey(principal, callId);
      if (name !== null) {
        if (running.has(name)) throw new RpcError('ALREADY_EXISTS', `A call with id "${callId}" is already running.`);
        running.set(name, cancel);
      }
      try {
        const result = await registry.run(
          { tool, args },
          {
            ...{ agentId, sessionKey: null, runId: null, principal, scopes },
            // A person can try the tools with all collections.
            collections: tool.startsWith('collection_') ? await vault.collection('collections').keys() : [],
            signal: AbortSignal.any([signal, cancel.signal]),
            send: (file) => void files.push(file),
            show: (picture) => void pictures.push(picture),
          },
        );
        return {
          result: result ?? null,
          files: files.map(({ filename, mimeType, data, note }) => ({ filename, mimeType, data, ...(note === undefined ? {} : { note }) })),
          pictures,
          durationMs: clock.now() - began,
        };
      } catch (error) {
        // Tools throw various errors when aborted.
        throw cancel.signal.aborted ? new RpcError('ABORTED', 'The call was cancelled.', {}, { cause: error }) : error;
      } finally {
        if (name !== null) running.delete(name);
      }
    },
    'tools.cancel': ({ callId }, { principal }) => {
      const call = running.get(toCallKey(principal, callId));
      call?.abort(new RpcError('ABORTED', 'The call was cancelled.'));
      return { cancelled: call !== undefined };
    },
  };
});
